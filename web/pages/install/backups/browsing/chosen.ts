/** A user's selection in a backup. */
export interface Chosen {
  /** Paths of files, folders and links. */
  paths: ReadonlySet<string>;
  tables: ReadonlySet<string>;
}

export const NOTHING: Chosen = { paths: new Set(), tables: new Set() };

/** The server takes as many paths and tables in one restore. */
export const MOST_PATHS = 500;

export const chosenCount = ({ paths, tables }: Chosen): number => paths.size + tables.size;

/** Names the choice: "2 files or folders and 1 table". A single item has its own name. */
export function chosenLabel({ paths, tables }: Chosen): string {
  const [path] = paths;
  const [table] = tables;
  const parts = [
    paths.size === 1 ? `"${path}"` : paths.size > 1 ? `${paths.size} files and folders` : '',
    tables.size === 1 ? `the table ${table}` : tables.size > 1 ? `${tables.size} tables` : '',
  ];
  return parts.filter((part) => part !== '').join(' and ');
}

/** The selected folder that contains a path; null if none does. */
export function chosenAbove(paths: ReadonlySet<string>, path: string): string | null {
  const names = path.split('/');
  for (let length = 1; length < names.length; length += 1) {
    const folder = names.slice(0, length).join('/');
    if (paths.has(folder)) return folder;
  }
  return null;
}

/** A selection without entries that are inside of other selected folders. */
export const outermost = (paths: ReadonlySet<string>): string[] =>
  [...paths].filter((path) => chosenAbove(paths, path) === null);
