/**
 * Patterns of files that an edge never shows, because people and plugins leave them behind: logs, databases, database dumps, and archives
 * in the folders where backups of whole websites end up. Archives in other folders may be offered on purpose. Four forms: `/a/b` a
 * path and everything below, `debug.log` a file name, `*.sql` the end of a file name, `/a/*.zip` the end of a file name in one
 * folder. File names are compared without case. Hidden files such as `.env` and `.git` are never shown anyway.
 */
export const DEFAULT_DENY: readonly string[] = [
  'debug.log',
  'error_log',
  'php_errorlog',
  ...['sqlite', 'db'].flatMap((ending) =>
    ['', '-wal', '-shm', '-journal'].map((part) => `*.${ending}${part}`),
  ),
  ...['', '.gz', '.bz2', '.xz', '.zst', '.zip', '.7z'].map((packed) => `*.sql${packed}`),
  ...['/', '/wp-content/'].flatMap((folder) =>
    ['zip', 'tar', 'gz', 'tgz', 'bz2', 'xz', 'zst', '7z', 'rar', 'wpress'].map(
      (ending) => `${folder}*.${ending}`,
    ),
  ),
];

/**
 * WordPress's own installation, which it offers to any visitor if its configuration or its tables are gone. Each website is installed when it
 * is created, and WP-CLI needs no page.
 */
export const INSTALLATION: readonly string[] = ['/wp-admin/install.php', '/wp-admin/setup-config.php'];

/** A valid pattern. */
export const DENY_PATTERN = '^(/[^*]*|(/([^*/]+/)*)?\\*\\.[^*/]+|[^*/]+)$';

interface DenyRules {
  /** Without a final `/`; empty: everything. */
  paths: string[];
  names: Set<string>;
  endings: { folder: string | null; ending: string }[];
}

const compiled = new WeakMap<readonly string[], DenyRules>();

/** Whether visitors get 404 for a path, decoded and normalised: `/a/b`, or `/a/b/` for a folder. */
export function isDenied(patterns: readonly string[], path: string): boolean {
  const { paths, names, endings } = rulesFor(patterns);
  if (paths.some((closed) => path === closed || path.startsWith(`${closed}/`))) return true;
  const end = path.lastIndexOf('/') + 1;
  const name = path.slice(end).toLowerCase();
  if (name === '') return false;
  if (names.has(name)) return true;
  const of = path.slice(0, end);
  return endings.some(({ folder, ending }) => (folder === null || folder === of) && name.endsWith(ending));
}

function rulesFor(patterns: readonly string[]): DenyRules {
  const known = compiled.get(patterns);
  if (known !== undefined) return known;
  const rules: DenyRules = { paths: [], names: new Set(), endings: [] };
  for (const pattern of patterns) {
    const star = pattern.indexOf('*');
    if (star !== -1) {
      const folder = star === 0 ? null : pattern.slice(0, star);
      rules.endings.push({ folder, ending: pattern.slice(star + 1).toLowerCase() });
    } else if (pattern.startsWith('/')) rules.paths.push(pattern.replace(/\/+$/, ''));
    else rules.names.add(pattern.toLowerCase());
  }
  compiled.set(patterns, rules);
  return rules;
}
