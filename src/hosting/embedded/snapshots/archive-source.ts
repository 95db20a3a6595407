import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../lib/clock.ts';
import { quoted } from '../../websites/backup-contents/archive-names.ts';
import { openContained } from '../host-folder/contained-file.ts';
import { joinBytes, unreadable } from './archive-tree.ts';
import { isSameState, isSettled, SMALL_BYTES, STAMP_STEP_MS } from './file-state.ts';
import type { DataPart } from './sparse-file.ts';
import { HEADER_BYTES, isDatabase } from './sqlite-header.ts';

/**
 * Reads the files of a live website.
 *
 * "Consistent" means that each file is archived as it was at one moment. A file is consistent if its size and times are the same before
 * and after reading, or if a second reading gives the same bytes. A log that only grows is read up to its first length. Otherwise the
 * file is read again, and finally an error names it. Different files may be from different moments, except for those of a database of
 * SQLite (sqlite-database.ts).
 */
export interface Source {
  /** The website's folder, absolute and real. */
  root: Buffer;
  /** Paths below the folder that are not archived. */
  leftOut?: ReadonlySet<string> | undefined;
  clock: Clock;
  signal: AbortSignal | undefined;
  /** Runs work while the website writes nothing. */
  atRest?: WebsiteAtRest | undefined;
}

/** Runs work while the website writes nothing. The signal ends the wait for that. */
export type WebsiteAtRest = <Result>(
  work: () => Promise<Result>,
  signal: AbortSignal | undefined,
) => Promise<Result>;

export const CHUNK_BYTES = 256 * 1024;

/** A file that changes while it is read is read again, after 100 ms and then 400 ms. */
const PAUSES_MS = [100, 400];

/**
 * Opens the file and calls `read` until it returns a consistent result. Returns `false` if the file is missing. The path is relative to
 * the root.
 */
export async function untilStable(
  source: Source,
  path: Buffer,
  read: (file: FileHandle, stats: BigIntStats) => Promise<boolean>,
): Promise<boolean> {
  for (const pause of [...PAUSES_MS, null]) {
    const file = await openContained(joinBytes(source.root, path), constants.O_RDONLY);
    try {
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile()) return false;
      if (await read(file, stats)) return true;
    } finally {
      await file.close();
    }
    if (pause !== null) await sleep(pause, undefined, { signal: source.signal });
  }
  throw new Error(`The file ${quoted(path)} kept changing while it was read.`);
}

export interface SmallFile {
  stats: BigIntStats;
  content: Buffer;
  /** See file-state.ts. */
  isSettled: boolean;
}

/** Reads a small file whole. Returns `large` if it is not small, `database` for one of SQLite of any size, null if it is missing. */
export async function readSmall(
  source: Source,
  path: Buffer,
): Promise<SmallFile | 'large' | 'database' | null> {
  let result: SmallFile | 'large' | 'database' | null = null;
  await untilStable(source, path, async (file, stats) => {
    if (isDatabase(await readWhole(source, file, path, HEADER_BYTES))) {
      result = 'database';
      return true;
    }
    if (stats.size > SMALL_BYTES) {
      result = 'large';
      return true;
    }
    const size = Number(stats.size);
    const seenMs = source.clock.now().getTime();
    const content = await readWhole(source, file, path, size);
    if (content.length !== size) return false;
    result = { stats, content, isSettled: isSettled(stats, seenMs) };
    if (await isUnchanged(file, stats, seenMs)) return true;
    return content.equals(await readWhole(source, file, path, size));
  });
  return result;
}

/** Consecutive bytes of a file with their SHA-256, in hexadecimal digits. */
export interface Piece {
  length: number;
  sha256: string;
}

/** Reads the file once more, and compares. */
export async function isSameAgain(
  source: Source,
  file: FileHandle,
  path: Buffer,
  pieces: Iterable<Piece>,
): Promise<boolean> {
  let offset = 0;
  for (const { length, sha256 } of pieces) {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of readChunks(source, file, path, length, offset)) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    if (bytes !== length || hash.digest('hex') !== sha256) return false;
    offset += length;
  }
  return true;
}

/**
 * Whether the file's state proves that nothing was written since `stats`, which were seen at `seenMs`. A change right before that leaves
 * this open, because a later one can have the same time.
 */
export async function isUnchanged(file: FileHandle, stats: BigIntStats, seenMs: number): Promise<boolean> {
  const isFresh = Math.abs(seenMs - Number(stats.ctimeMs)) < STAMP_STEP_MS;
  return !isFresh && isSameState(stats, await file.stat({ bigint: true }));
}

/** Yields exactly the bytes of the parts of the file, in order, with zeros for what is missing because the file has become shorter. */
export async function* readParts(
  source: Source,
  file: FileHandle,
  path: Buffer,
  parts: readonly DataPart[],
): AsyncGenerator<Buffer<ArrayBuffer>> {
  for (const { offset, length } of parts) {
    let missing = length;
    for await (const chunk of readChunks(source, file, path, length, offset)) {
      missing -= chunk.length;
      yield chunk;
    }
    while (missing > 0) {
      const zeros = Buffer.alloc(Math.min(missing, CHUNK_BYTES));
      missing -= zeros.length;
      yield zeros;
    }
  }
}

async function readWhole(
  source: Source,
  file: FileHandle,
  path: Buffer,
  size: number,
  offset = 0,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readChunks(source, file, path, size, offset)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** At most `size` bytes from `offset`. */
async function* readChunks(
  source: Source,
  file: FileHandle,
  path: Buffer,
  size: number,
  offset = 0,
): AsyncGenerator<Buffer<ArrayBuffer>> {
  let position = 0;
  while (position < size) {
    source.signal?.throwIfAborted();
    const buffer = Buffer.allocUnsafe(Math.min(size - position, CHUNK_BYTES));
    const { bytesRead } = await file
      .read(buffer, 0, buffer.length, offset + position)
      .catch((error: unknown) => {
        throw unreadable(path, error);
      });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
