/** What a website's WordPress has to know of this host. */
export interface SiteConfig {
  /** The document root. */
  root: string;
  database: string;
  /** Of the database. */
  user: string;
  /** Path of the database server's socket. */
  socket: string;
  /** Path of the socket of the website's own Redis; null for none. */
  redis: string | null;
  /** Where visitors reach it: `https://example.com`, with the port if it is not the usual one. */
  origin: string;
}

/** What stands in its place is random and the website's own: without it, nobody can forge the cookie of a log-in. */
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

/** Pure: a text as PHP writes it, or `null`. */
export function phpLiteral(value: string | null): string {
  return value === null ? 'null' : `'${value.replace(/[\\']/g, (character) => `\\${character}`)}'`;
}

/**
 * Pure: `homeport.php`, above the document root and root's: the values of this website. It leads to the settings that all share
 * (php/settings.php) beside the WordPress that the website is linked to.
 */
export function renderHomeportFile(config: SiteConfig): string {
  const { root, database, user, socket, redis, origin } = config;
  const values = Object.entries({ root, database, user, socket, redis, origin });
  return `<?php
// Written by the host, which writes it anew whenever something of this changes.
const HOMEPORT = [
${values.map(([name, value]) => `    '${name}' => ${phpLiteral(value)},`).join('\n')}
];
require_once (defined('HOMEPORT_LIBRARY') ? HOMEPORT_LIBRARY : dirname(realpath(HOMEPORT['root'] . '/wp-load.php')) . '/homeport')
    . '/settings.php';
`;
}

/** Pure: the first `wp-config.php`, which is its owner's from then on. `secret` gives a new random text at each call. */
export function renderWpConfig(secret: () => string): string {
  return `<?php
/**
 * The configuration of this WordPress. This file is yours.
 *
 * The database, the address and what else this host decides are in homeport.php, one folder above, and come first:
 * a definition of DB_NAME or WP_HOME in here has no effect.
 */
require_once dirname(__DIR__) . '/homeport.php';

${SALTS.map((name) => `define(${phpLiteral(name)}, ${phpLiteral(secret())});`).join('\n')}

$table_prefix = 'wp_';

define('WP_DEBUG', false);

/* Your own settings go here. */

if (!defined('ABSPATH')) {
    define('ABSPATH', __DIR__ . '/');
}
require_once ABSPATH . 'wp-settings.php';
`;
}

/** WordPress loads the object cache from this one place; what it is stands with the host's other files. */
export const OBJECT_CACHE_FILE = `<?php
// Keeps what WordPress would compute again in the Redis of this website. Without this file WordPress does without.
if (defined('HOMEPORT_LIBRARY')) {
    require HOMEPORT_LIBRARY . '/object-cache.php';
}
`;

export const MUST_USE_FILE = `<?php
/**
 * Plugin Name: Homeport
 * Description: Sends mail from this website's own name, and leaves updates of WordPress itself to the host.
 */
if (defined('HOMEPORT_LIBRARY')) {
    require HOMEPORT_LIBRARY . '/must-use.php';
}
`;
