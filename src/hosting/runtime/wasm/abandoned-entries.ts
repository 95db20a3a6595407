import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ifThere } from '../../../lib/if-there.ts';
import { runs } from '../../../lib/running-process.ts';

/** Begins the names of what only this process uses, so that other processes leave it alone. */
export const OWN_PREFIX = `${process.pid}-`;

/**
 * Removes what former processes left in `folder`: entries of this user whose name begins with `prefix`, unless a running process follows.
 * Logs failures, because leftovers only take space. Call it before this process makes an entry: a former process can have had its id.
 */
export async function removeAbandoned(folder: string, log: Logger, prefix = ''): Promise<void> {
  const warn = (err: unknown): void => log.warn({ err }, 'leftovers of a former process were not removed');
  try {
    for (const name of (await ifThere(readdir(folder))) ?? []) {
      if (!name.startsWith(prefix) || isUsed(name.slice(prefix.length))) continue;
      await removeOwn(join(folder, name)).catch(warn);
    }
  } catch (error) {
    warn(error);
  }
}

function isUsed(name: string): boolean {
  const id = /^(\d+)-/.exec(name)?.[1];
  return id !== undefined && !name.startsWith(OWN_PREFIX) && runs(Number(id));
}

/** Other users can write to the system's temporary folder too. */
async function removeOwn(path: string): Promise<void> {
  const found = await ifThere(lstat(path));
  if (found?.uid === process.getuid?.()) await rm(path, { recursive: true, force: true });
}
