/** Extensions that WordPress needs, that its Site Health page recommends, or that Homeport needs (redis), with their Debian packages. */
const PACKAGE_OF = {
  curl: 'curl',
  dom: 'xml',
  exif: 'common',
  fileinfo: 'common',
  gd: 'gd',
  imagick: 'imagick',
  intl: 'intl',
  mbstring: 'mbstring',
  mysqli: 'mysql',
  opcache: 'opcache',
  redis: 'redis',
  simplexml: 'xml',
  xmlreader: 'xml',
  zip: 'zip',
} as const;

/** The extension without which a website has no object cache. */
export const OBJECT_CACHE_EXTENSION = 'redis';

/** Required extensions that PHP lacks, sorted. `modules`: those that it loads. */
export function missingExtensions(modules: readonly string[]): string[] {
  return Object.keys(PACKAGE_OF).filter((name) => !modules.includes(name));
}

/** Parts of PHP that Debian packages separately: `fpm` for `php-fpm` and `php8.2-fpm`. PHP itself depends on `common` and `opcache`. */
export const PHP_PACKAGES: readonly string[] = [
  ...['fpm', 'cli'],
  ...new Set(Object.values(PACKAGE_OF).filter((name) => name !== 'common' && name !== 'opcache')),
];

/** Debian packages of a PHP version with these extensions, sorted: `php8.4-redis`. */
export function packagesOf(version: string, extensions: readonly string[]): string[] {
  const packages: Record<string, string> = PACKAGE_OF;
  return [...new Set(extensions.map((name) => `php${version}-${packages[name] ?? name}`))].sort();
}
