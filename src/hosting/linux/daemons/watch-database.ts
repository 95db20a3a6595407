import { repeatEvery } from '../../../lib/concurrency.ts';
import { type FreeSpace, freeSpace, LEAST_FREE_BYTES } from '../../../lib/free-space.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { Databases } from './databases.ts';

/** What a restore leaves of the disk: it brings back what the install had before. The large margin of other work protects neighbours from growth. */
export const LEAST_FREE_BYTES_OF_OWN = 64 * 1024 ** 2;
/** How much of a dump may be written before the next look at the disk. */
export const LOOK_EVERY_BYTES = 64 * 1024 ** 2;
const LOOK_EVERY_MS = 2_000;

export interface WatchedDatabase {
  database: string;
  /** Null: no limit. */
  mostBytes: number | null;
  /** How far it may exceed that, as a factor. Default: 1, not at all. */
  tolerance?: number;
  /** A folder on the disk of the database. */
  folder: string;
  /** Free bytes to leave on that disk. Default: 1 GiB. */
  leastFreeBytes?: number;
  signal?: AbortSignal | undefined;
  free?: FreeSpace;
  everyMs?: number;
}

/** A database became larger than an install's may be, or the disk too full. */
export class NoRoomForDatabase extends PermanentHostError {
  override name = 'NoRoomForDatabase';
}

/** Throws {@link NoRoomForDatabase} if the disk of the folder has too little free space. */
export async function requireFreeSpace(
  folder: string,
  { leastBytes = LEAST_FREE_BYTES, free = freeSpace }: { leastBytes?: number; free?: FreeSpace } = {},
): Promise<void> {
  if ((await free(folder)) < leastBytes) {
    throw new NoRoomForDatabase('The host has too little free space. Ask its operator.');
  }
}

/**
 * Runs work that fills a database. Aborts it with {@link NoRoomForDatabase} once the database has too many bytes or the disk too
 * little room.
 */
export async function watchingDatabase<Result>(
  databases: Pick<Databases, 'fileBytes'>,
  watched: WatchedDatabase,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { database, mostBytes, tolerance = 1, folder, signal, everyMs = LOOK_EVERY_MS } = watched;
  const { leastFreeBytes: leastBytes = LEAST_FREE_BYTES, free = freeSpace } = watched;
  const refused = new AbortController();
  const look = async () => {
    await requireFreeSpace(folder, { leastBytes, free });
    const bytes = (await databases.fileBytes()).get(database) ?? 0;
    if (mostBytes === null || bytes <= mostBytes * tolerance) return;
    const limit = Math.floor(mostBytes / 1024 ** 2).toLocaleString('en');
    throw new NoRoomForDatabase(
      `The database becomes larger than that of an install may be (${limit} MiB). Delete what the website does not need, and try again.`,
    );
  };
  const watch = repeatEvery(look, {
    delayMs: everyMs,
    // The server may be too busy to answer; the last look has to succeed.
    onError: (error) => {
      if (error instanceof NoRoomForDatabase) refused.abort(error);
    },
    immediately: true,
  });
  try {
    const result = await work(
      signal === undefined ? refused.signal : AbortSignal.any([signal, refused.signal]),
    );
    await look();
    return result;
  } catch (error) {
    throw refused.signal.aborted && signal?.aborted !== true ? refused.signal.reason : error;
  } finally {
    await watch.stop();
  }
}
