import { type BigIntStats, constants, fstatSync, readlinkSync } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';

/** An open file, folder or special file. The caller closes it. */
export interface Opened {
  handle: FileHandle;
  stats: BigIntStats;
  /** Real path below the root, symbolic links resolved; empty for the root itself. */
  relative: string;
}

/** Why nothing was opened: nothing visible exists, or permissions keep even the edge out. */
export type NotOpened = 'missing' | 'forbidden';

/** Retries, so that moving folders does not make a file vanish for a concurrent request. */
const TRIES = 4;
// O_NONBLOCK: a pipe among the files must not block the edge.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const NOTHING_THERE = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO'];

/**
 * Opens `relative` below `root`, or returns why it cannot. Symbolic links are followed only inside the root, and a link replaced
 * meanwhile is detected. `relative` has no `..` and no NUL. Other failures, such as too many open files, are thrown.
 */
export async function openInside(root: string, relative: string): Promise<Opened | NotOpened> {
  for (let tries = 0; tries < TRIES; tries++) {
    let opened: Opened | 'moved';
    try {
      const realRoot = await realpath(root);
      const real = await realpath(join(realRoot, relative));
      if (real !== realRoot && !real.startsWith(realRoot + sep)) return 'missing';
      opened = await openReal(real, real.slice(realRoot.length + 1));
    } catch (error) {
      if (hasCode(error, ...NOTHING_THERE)) return 'missing';
      if (hasCode(error, 'EACCES', 'EPERM')) return 'forbidden';
      throw error;
    }
    if (opened !== 'moved') return opened;
  }
  return 'missing';
}

/**
 * Opens a real path. The calls about the open file wait for no disk, so that making them takes less time than handing them to another
 * thread. `moved`: between resolving and opening, it or a folder above it was moved or became a link elsewhere.
 */
async function openReal(real: string, relative: string): Promise<Opened | 'moved'> {
  const handle = await open(real, FLAGS);
  try {
    if (await isStill(handle, real))
      return { handle, stats: fstatSync(handle.fd, { bigint: true }), relative };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return 'moved';
}

/** Whether an open file is the one that was opened at that real path. */
async function isStill(handle: FileHandle, real: string): Promise<boolean> {
  if (process.platform !== 'linux') return join(await realpath(dirname(real)), basename(real)) === real;
  const path = readlinkSync(`/proc/self/fd/${handle.fd}`);
  // Replaced by an upload since then, it is marked so by the kernel, and is whole all the same.
  return path === real || path === `${real} (deleted)`;
}
