/**
 * Patterns of files that an edge never shows, because people and plugins leave them behind: logs, database dumps, and archives
 * in the folders where backups of whole websites end up. Archives in other folders may be offered on purpose. Four forms: `/a/b` a
 * path and everything below, `debug.log` a file name, `*.sql` the end of a file name, `/a/*.zip` the end of a file name in one
 * folder. File names are compared without case. Hidden files such as `.env` and `.git` are never shown anyway.
 */
export const DEFAULT_DENY: readonly string[] = [
  'debug.log',
  'error_log',
  'php_errorlog',
  ...['', '.gz', '.bz2', '.xz', '.zst', '.zip', '.7z'].map((packed) => `*.sql${packed}`),
  ...['/', '/wp-content/'].flatMap((folder) =>
    ['zip', 'tar', 'gz', 'tgz', 'bz2', 'xz', 'zst', '7z', 'rar', 'wpress'].map(
      (ending) => `${folder}*.${ending}`,
    ),
  ),
];

/** A valid pattern. */
export const DENY_PATTERN = '^(/[^*]*|(/([^*/]+/)*)?\\*\\.[^*/]+|[^*/]+)$';
