import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Homeport's folder. */
export const ROOT = join(import.meta.dirname, '..');
/** Beside the compile cache. `npm ci` removes both with the packages they were made from. */
export const PROGRAMS = join(ROOT, 'node_modules/.cache/homeport/programs');

/** A file as it was at the build: its path below Homeport's folder, its size and its time of change. */
export type BuiltFile = readonly [path: string, size: number, modifiedMs: number];

/** The record of the current program. */
export interface BuiltProgram {
  /** Folder of the modules, in {@link PROGRAMS}. */
  folder: string;
  /** The sources and the modules. */
  files: readonly BuiltFile[];
  /** Versions of the libraries that the modules contain, and of the bundler. */
  libraries: Readonly<Record<string, string>>;
}

/** The file of the record. */
export const RECORD_FILE = join(PROGRAMS, 'current.json');

/** Releases have this file. Their sources are never edited, and they lack the bundler. */
const RELEASE_FILE = join(ROOT, 'release.json');

/** The entry of the built program; null if it is missing or damaged, or built from other sources or libraries. */
export function findBuiltProgram(): string | null {
  try {
    const built: BuiltProgram = JSON.parse(readFileSync(RECORD_FILE, 'utf8'));
    if (!existsSync(RELEASE_FILE) && !isCurrent(built)) return null;
    const entry = join(PROGRAMS, built.folder, 'main.mjs');
    accessSync(entry, constants.R_OK);
    return entry;
  } catch {
    // Never built, of another form, or a file is gone: the sources run.
    return null;
  }
}

function isCurrent({ files, libraries }: BuiltProgram): boolean {
  return (
    files.every(isUnchanged) &&
    Object.entries(libraries).every(([name, version]) => libraryVersion(name) === version)
  );
}

/** A file as it is now. */
export function presentFile(path: string): BuiltFile {
  const { size, mtimeMs } = statSync(join(ROOT, path));
  return [path, size, mtimeMs];
}

/** The installed version of a library. Times of its files say nothing, because npm sets all to the same. */
export function libraryVersion(name: string): string {
  return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function isUnchanged([path, size, modifiedMs]: BuiltFile): boolean {
  const [, presentSize, presentMs] = presentFile(path);
  return presentSize === size && presentMs === modifiedMs;
}
