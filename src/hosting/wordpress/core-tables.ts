/** Tables of every WordPress, without their prefix. Those that it does not start without come first. */
export const NEEDED_TABLES = ['options', 'posts', 'users', 'usermeta'] as const;
export const CORE_TABLES: readonly string[] = [
  ...NEEDED_TABLES,
  'postmeta',
  'comments',
  'commentmeta',
  'terms',
  'termmeta',
  'term_taxonomy',
  'term_relationships',
];

/** The table prefixes of each WordPress in a database. */
export function wordpressPrefixes(tables: ReadonlySet<string>): string[] {
  return [...tables]
    .filter((name) => name.endsWith('options'))
    .map((name) => name.slice(0, -'options'.length))
    .filter((prefix) => NEEDED_TABLES.every((name) => tables.has(prefix + name)));
}

/** Whether a WordPress is a network of websites, whose configuration has more than the prefix. */
export function isNetwork(tables: ReadonlySet<string>, prefix: string): boolean {
  return tables.has(`${prefix}blogs`) && tables.has(`${prefix}sitemeta`);
}

/** The table prefix that a `wp-config.php` sets last; null if it sets none in the usual way. */
export function configuredPrefix(text: string): string | null {
  const found = [...text.matchAll(/^[ \t]*\$table_prefix[ \t]*=[ \t]*(['"])(\w{1,40})\1[ \t]*;/gm)];
  return found.at(-1)?.[2] ?? null;
}
