import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { ifThere } from '../../../lib/if-there.ts';

/** What is kept after a deletion, so that the next new index does not need another one. */
const KEPT_PART = 0.9;
export const INDEX = '.sqlite';
/** What is being written, or what a killed process has left. */
export const UNFINISHED = '.part';

/** Bounds the disk space of indexes, `<folder>/<install id>/<backup id>.sqlite`. Those unused for the longest time go first. */
export interface IndexRoom {
  /** Notes that an index is used. A failure is logged. */
  used(file: string): Promise<void>;
  /** Counts a new index, and deletes others if there are too many. A failure is logged. */
  added(file: string): Promise<void>;
}

interface Present {
  path: string;
  bytes: number;
  usedAt: number;
}

export function createIndexRoom({
  folder,
  mostBytes,
  clock,
  log,
}: {
  folder: string;
  mostBytes: number;
  clock: Clock;
  log: Logger;
}): IndexRoom {
  /** At least what they take; null until all are counted. Deletions by others do not lower it, until all are counted again. */
  let atMost: number | null = null;
  const inTurn = serializeByKey();

  async function listed(): Promise<Present[]> {
    const found: Present[] = [];
    for (const install of (await ifThere(readdir(folder))) ?? []) {
      for (const name of (await ifThere(readdir(join(folder, install)))) ?? []) {
        const path = join(folder, install, name);
        const stats = await ifThere(stat(path));
        if (stats === null) continue;
        const usedAt = stats.mtimeMs;
        if (name.endsWith(INDEX)) found.push({ path, bytes: stats.size, usedAt });
        else if (usedAt < clock.now().getTime() - DAY_MS) await rm(path, { force: true });
      }
    }
    return found;
  }

  async function makeRoom(added: string): Promise<void> {
    const rank = ({ path, usedAt }: Present) => (path === added ? Number.POSITIVE_INFINITY : usedAt);
    const present = (await listed()).toSorted((a, b) => rank(b) - rank(a));
    let bytes = present.reduce((sum, one) => sum + one.bytes, 0);
    if (bytes > mostBytes) {
      for (const one of present.slice(1).toReversed()) {
        if (bytes <= mostBytes * KEPT_PART) break;
        await rm(one.path, { force: true });
        bytes -= one.bytes;
      }
    }
    atMost = bytes;
  }

  return {
    async used(file) {
      const now = clock.now();
      await ifThere(utimes(file, now, now)).catch((err: unknown) => {
        log.warn({ err }, 'could not note the use of the index of a backup');
      });
    },

    added: (file) =>
      inTurn('', async () => {
        try {
          const { size } = await stat(file);
          if (atMost !== null) atMost += size;
          if (atMost === null || atMost > mostBytes) await makeRoom(file);
        } catch (err) {
          log.warn({ err }, 'could not delete old indexes of backups');
        }
      }),
  };
}
