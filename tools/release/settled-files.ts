import { chmodSync, lstatSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const PROGRAM = 0o755;
const FILE = 0o644;

/**
 * Gives a folder and everything in it one time, in seconds since 1970, and the modes of installed files. All users may read them, whatever the
 * umask of the builder was, and only the owner may change them.
 */
export function settleFiles(folder: string, seconds: number): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    settle(join(entry.parentPath, entry.name), seconds);
  }
  settle(folder, seconds);
}

function settle(path: string, seconds: number): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  const isProgram = stats.isDirectory() || (stats.mode & 0o100) !== 0;
  chmodSync(path, isProgram ? PROGRAM : FILE);
  utimesSync(path, seconds, seconds);
}
