import { dirname } from 'node:path/posix';

/** A file with the files that it imports. */
export interface ImportingFile {
  source: string;
  dependencies: readonly { resolved: string }[];
}

/**
 * Circles between folders, the shortest one of each set of folders that import each other. A folder imports what the files in it and below
 * it import from elsewhere. `isLeftOut`: for files that may import everything.
 */
export function folderCircles(
  files: readonly ImportingFile[],
  isLeftOut: (file: string) => boolean,
): string[][] {
  const imports = new Map<string, Set<string>>();
  for (const { source, dependencies } of files) {
    if (isLeftOut(source)) continue;
    for (const folder of foldersOf(source)) {
      const imported = imports.get(folder) ?? new Set();
      imports.set(folder, imported);
      for (const { resolved } of dependencies) {
        if (!isLeftOut(resolved) && !resolved.startsWith(`${folder}/`)) imported.add(dirname(resolved));
      }
    }
  }
  const circles: string[][] = [];
  const known = new Set<string>();
  for (const folder of imports.keys()) {
    const circle = known.has(folder) ? null : shortestCircle(folder, imports);
    if (circle === null) continue;
    for (const each of circle) known.add(each);
    circles.push(circle);
  }
  return circles;
}

/** The folder of a file, and those above it. */
function foldersOf(file: string): string[] {
  const names = dirname(file).split('/');
  return names.map((_, at) => names.slice(0, at + 1).join('/'));
}

/** From a folder over the folders that it imports back to itself; null without a way. */
function shortestCircle(folder: string, imports: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const from = new Map<string, string>();
  const next = [folder];
  for (const here of next) {
    for (const there of imports.get(here) ?? []) {
      if (there === folder) return wayTo(here, from).concat(folder);
      if (from.has(there)) continue;
      from.set(there, here);
      next.push(there);
    }
  }
  return null;
}

function wayTo(folder: string, from: ReadonlyMap<string, string>): string[] {
  const before = from.get(folder);
  return before === undefined ? [folder] : [...wayTo(before, from), folder];
}
