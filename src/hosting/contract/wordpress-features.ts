/**
 * Features of a host for WordPress, beyond serving it. Linux hosts do all of it.
 *
 * - `care`: reading, updates, plugins and themes from outside of WordPress
 * - `php`: other PHP versions and limits
 * - `parts`: restores and copies of the files or the database alone; `tables`: of single tables
 * - `database`: links that open the database
 * - `object_cache`: a cache of what WordPress reads from its database
 */
export const WORDPRESS_FEATURES = [
  'care',
  'wp_cli',
  'mail',
  'imports',
  'logs',
  'php',
  'parts',
  'tables',
  'database',
  'object_cache',
] as const;
export type WordPressFeature = (typeof WORDPRESS_FEATURES)[number];

/** Features of the embedded host. */
export const EMBEDDED_FEATURES: readonly WordPressFeature[] = ['mail', 'parts'];
