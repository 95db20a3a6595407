import { accessSync, constants, readdirSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { MachinePrograms } from './sandbox.ts';

/** Where packages put programs, besides the folders of `PATH`. */
const USUAL_FOLDERS = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin'];
const FPM_NAME = /^php-fpm(\d+\.\d+)?$/;

/** Pairs of PHP-FPM and the command line of the same version by their names: the preferred version, then the newest first. */
export function findPrograms(path: string, preferred: string | null = null): MachinePrograms[] {
  const folders = foldersOf(path);
  const found: { version: string; pair: MachinePrograms }[] = [];
  for (const folder of folders) {
    for (const name of namesIn(folder)) {
      const match = FPM_NAME.exec(name);
      if (match === null) continue;
      const [, version = ''] = match;
      const cli = programNamed(`php${version}`, folders);
      const fpm = programNamed(name, [folder]);
      if (cli !== null && fpm !== null) found.push({ version, pair: { fpm, cli } });
    }
  }
  const isPreferred = ({ version }: { version: string }) => Number(version === preferred);
  return found
    .sort(
      (one, other) =>
        isPreferred(other) - isPreferred(one) ||
        other.version.localeCompare(one.version, 'en', { numeric: true }),
    )
    .map(({ pair }) => pair)
    .filter(({ fpm }, at, all) => all.findIndex((one) => one.fpm === fpm) === at);
}

/** A program by its name; null if it is not installed. */
export const findProgram = (name: string, path: string): string | null => programNamed(name, foldersOf(path));

/** Users other than root often lack `sbin` in their `PATH`. */
function foldersOf(path: string): string[] {
  return [...new Set([...path.split(delimiter).filter(Boolean), ...USUAL_FOLDERS])];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Entries of PATH need not exist.
    return [];
  }
}

function programNamed(name: string, folders: readonly string[]): string | null {
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return realpathSync(path);
    } catch {
      // The next folder may have it.
    }
  }
  return null;
}
