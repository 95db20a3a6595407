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

/** The initial `wp-config.php`, which then belongs to the website's owner. `secret` returns a new random text at each call. */
export function renderWpConfig(secret: () => string, tablePrefix = 'wp_'): string {
  return `<?php
/**
 * The configuration of this WordPress. This file is yours.
 *
 * The database, the address and other settings of this host are in homeport.php, one folder above, and come first:
 * defining DB_NAME or WP_HOME here has no effect.
 */
require_once dirname(__DIR__) . '/homeport.php';

${SALTS.map((name) => `define(${phpLiteral(name)}, ${phpLiteral(secret())});`).join('\n')}

$table_prefix = ${phpLiteral(tablePrefix)};

define('WP_DEBUG', false);

/* Your own settings go here. */

if (!defined('ABSPATH')) {
    define('ABSPATH', __DIR__ . '/');
}
require_once ABSPATH . 'wp-settings.php';
`;
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
