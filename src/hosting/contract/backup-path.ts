/** The longest path of an entry that can be named, in characters. */
export const LONGEST_BACKUP_PATH = 1_024;
/** The most paths of one restore. */
export const MOST_RESTORED_PATHS = 500;
/** Folders and names joined by `/`, without `.`, `..`, control characters or slashes at the ends. Empty texts do not match. */
export const BACKUP_PATH =
  '^(?!/)(?!.*//)(?!(?:.*/)?\\.{1,2}(?:/|$))[^\\u0000-\\u001f\\u007f]*[^\\u0000-\\u001f\\u007f/]$';

const pattern = new RegExp(BACKUP_PATH, 'u');

export const isBackupPath = (path: string): boolean =>
  path.length <= LONGEST_BACKUP_PATH && pattern.test(path);
