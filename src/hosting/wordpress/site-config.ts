/** Facts about this host that a website's WordPress needs. */
export interface SiteConfig {
  /** The document root. */
  root: string;
  database: string;
  /** User of the database. */
  user: string;
  /** Path of the database server's socket. */
  socket: string;
  /** Path of the socket of the website's Redis; null for none. */
  redis: string | null;
  /** Path of the socket for purges by the website; null without one. */
  purge: string | null;
  /** Address for visitors: `https://example.com`, with the port unless it is the default. */
  origin: string;
  /** Key of passes through the password of visitors; null without a password. */
  pass: string | null;
}

/** Names of random values, different for each website. They prevent the forging of login cookies. */
const SALTS = [
  'AUTH_KEY',
  'SECURE_AUTH_KEY',
  'LOGGED_IN_KEY',
  'NONCE_KEY',
  'AUTH_SALT',
  'SECURE_AUTH_SALT',
  'LOGGED_IN_SALT',
  'NONCE_SALT',
];

const OWN_SETTINGS = '/* Your own settings go here. */\n';
/** `wp config set`, `wp core multisite-convert` and plugins for caching write above this line of WordPress's own sample. */
const STOP_EDITING = "/* That's all, stop editing! Happy publishing. */";
const START = `if (!defined('ABSPATH')) {
    define('ABSPATH', __DIR__ . '/');
}
require_once ABSPATH . 'wp-settings.php';
`;

/** The part of a rendered `wp-config.php` before {@link OWN_SETTINGS}. The words of its comment have changed over time. */
const RENDERED = new RegExp(
  [
    String.raw`^<\?php\n/\*\*\n(?: \*.*\n)+? \*/(?:\nrequire_once dirname\(__DIR__\) \. '/homeport\.php';)?\n\n`,
    ...SALTS.map((name) => String.raw`define\('${name}', '[^'\\\n]+'\);\n`),
    String.raw`\n\$table_prefix = '[^'\\\n]+';\n\ndefine\('WP_DEBUG', false\);\n\n$`,
  ].join(''),
);

/** A text as a PHP literal, or `null`. */
export function phpLiteral(value: string | null): string {
  return value === null ? 'null' : `'${value.replace(/[\\']/g, (character) => `\\${character}`)}'`;
}

/**
 * `homeport.php`, above the document root and owned by root: the values of this website. It loads the shared settings
 * (php/settings.php) of the WordPress that the website is linked to.
 */
export function renderHomeportFile(config: SiteConfig): string {
  const { root, database, user, socket, redis, purge, origin, pass } = config;
  const values = Object.entries({ root, database, user, socket, redis, purge, origin, pass });
  return `<?php
// Written by the host; changes are overwritten.
const HOMEPORT = [
${values.map(([name, value]) => `    '${name}' => ${phpLiteral(value)},`).join('\n')}
];
require_once (defined('HOMEPORT_LIBRARY') ? HOMEPORT_LIBRARY : dirname(realpath(HOMEPORT['root'] . '/wp-load.php')) . '/homeport')
    . '/settings.php';
`;
}

/**
 * The initial `wp-config.php`, which then belongs to the website's owner. `secret` returns a new random text at each call. `settings`:
 * where the settings of the host are; `before` on a host that loads them before each script.
 */
export function renderWpConfig(
  secret: () => string,
  tablePrefix = 'wp_',
  settings: 'above' | 'before' = 'above',
): string {
  const [where, load] =
    settings === 'above'
      ? [' are in homeport.php, one folder above, and', "\nrequire_once dirname(__DIR__) . '/homeport.php';"]
      : ['', ''];
  return `<?php
/**
 * The configuration of this WordPress. This file is yours.
 *
 * The database, the address and other settings of this host${where} come first:
 * defining DB_NAME or WP_HOME here has no effect.
 */${load}

${SALTS.map((name) => `define(${phpLiteral(name)}, ${phpLiteral(secret())});`).join('\n')}

$table_prefix = ${phpLiteral(tablePrefix)};

define('WP_DEBUG', false);

${OWN_SETTINGS}
${STOP_EDITING}

${START}`;
}

/**
 * The text of a `wp-config.php` that an earlier host rendered, with the line that WP-CLI looks for; null for any other text, such as
 * one that its owner has changed.
 */
export function withStopLine(text: string): string | null {
  const end = `${OWN_SETTINGS}\n${START}`;
  if (!text.endsWith(end) || !RENDERED.test(text.slice(0, -end.length))) return null;
  return `${text.slice(0, -START.length)}${STOP_EDITING}\n\n${START}`;
}

/** `~/.my.cnf` of shells. The socket identifies the user, so there is no password. */
export function renderClientSettings({ database, user, socket }: SiteConfig): string {
  return `# This file is yours. Deleted, it comes back with these values.
[client]
socket = "${socket}"
user = ${user}

[mysql]
database = ${database}
`;
}

/** WordPress loads the object cache from this place only; its code is with the host's other files. */
export const OBJECT_CACHE_FILE = `<?php
// Stores computed values of WordPress in this website's Redis. Without this file, WordPress works without it.
if (defined('HOMEPORT_LIBRARY')) {
    require HOMEPORT_LIBRARY . '/object-cache.php';
}
`;

export const MUST_USE_FILE = `<?php
/**
 * Plugin Name: Homeport
 * Description: Shows changes to visitors at once, sends mail from this website's own host name, and leaves updates of WordPress itself to the host.
 */
if (defined('HOMEPORT_LIBRARY')) {
    require HOMEPORT_LIBRARY . '/must-use.php';
}
`;

/** Facts about a website whose PHP reaches nothing of the host but what it is shown. */
export interface ConfinedSiteConfig
  extends Pick<SiteConfig, 'root' | 'database' | 'purge' | 'origin' | 'pass'> {
  /** Folder of the SQLite database, as PHP sees it. */
  databaseFolder: string;
  /** Folder of our PHP files, as PHP sees it. */
  library: string;
  /** Folder of the SQLite plugin, as PHP sees it. */
  sqlite: string;
}

/** The code that runs before each script of such a website. */
export function renderPrepend(config: ConfinedSiteConfig): string {
  const { root, database, databaseFolder, purge, origin, pass, library, sqlite } = config;
  const values = Object.entries({
    root,
    engine: 'sqlite',
    database,
    database_folder: databaseFolder,
    user: '',
    socket: '',
    redis: null,
    purge,
    origin,
    pass,
  });
  return `<?php
const HOMEPORT = [
${values.map(([name, value]) => `    '${name}' => ${phpLiteral(value)},`).join('\n')}
];
const HOMEPORT_LIBRARY = ${phpLiteral(library)};
const HOMEPORT_SQLITE = ${phpLiteral(sqlite)};
require_once HOMEPORT_LIBRARY . '/settings.php';
`;
}

/** `db.php` of such a website. WordPress loads the class of the database from this place only. */
export const DATABASE_FILE = `<?php
// Keeps the database in SQLite. Without this file, WordPress looks for MySQL, which this website does not have.
if (defined('HOMEPORT_SQLITE')) {
    require HOMEPORT_SQLITE . '/wp-includes/sqlite/db.php';
}
`;
