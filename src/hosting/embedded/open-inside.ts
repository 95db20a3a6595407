import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { NotContainedError, openContained } from './contained-file.ts';
import { hasCode } from './error-code.ts';

/** What is open: a file, a folder, or something that is neither. Whoever got it closes it. */
export interface Opened {
  handle: FileHandle;
  stats: BigIntStats;
  /** Where it really lies below the root, symbolic links resolved; empty for the root itself. */
  relative: string;
}

/** Why nothing was opened: there is nothing (that may be seen), or its permissions keep even the edge out. */
export type NotOpened = 'missing' | 'forbidden';

/** An upload that replaces a file by renaming must not make it vanish for who asks at that moment. */
const TRIES = 16;
const NOTHING_THERE = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO'];

/**
 * Opens what lies at `relative` below `root`, or says why not. Never what lies outside: symbolic links are followed only
 * where they stay inside, and a link that is exchanged in the meantime is found out. `relative` has no `..` and no NUL.
 * Other failures (too many open files, say) are thrown.
 */
export async function openInside(root: string, relative: string): Promise<Opened | NotOpened> {
  for (let tries = 1; ; tries++) {
    try {
      const realRoot = await realpath(root);
      const real = await realpath(join(realRoot, relative));
      if (real !== realRoot && !real.startsWith(realRoot + sep)) return 'missing';
      return await openReal(real, real.slice(realRoot.length + 1));
    } catch (error) {
      if (hasCode(error, ...NOTHING_THERE)) return 'missing';
      if (hasCode(error, 'EACCES', 'EPERM')) return 'forbidden';
      // Between resolving and opening it was replaced, or a folder on the way became a link elsewhere.
      if (!(error instanceof NotContainedError)) throw error;
      if (tries === TRIES) return 'missing';
    }
  }
}

async function openReal(real: string, relative: string): Promise<Opened> {
  const handle = await openContained(real, constants.O_RDONLY);
  try {
    return { handle, stats: await handle.stat({ bigint: true }), relative };
  } catch (error) {
    await handle.close();
    throw error;
  }
}
