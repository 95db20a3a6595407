import { randomUUID } from 'node:crypto';
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupFilePart } from '../../contract/backup-contents.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { MOST_READ_BYTES } from '../../contract/snapshots.ts';

/** A file of a backup is too large for a download. */
export class FileTooLargeError extends PermanentHostError {
  override name = 'FileTooLargeError';
}

/** Files of backups while they are downloaded, in a folder of root or of this process that no website sees. */
export interface ExtractedFiles {
  /** Reads a part of the file `key`. `extract` gets its whole content, if it is not here. */
  read(
    key: string,
    part: { offset: number; length: number; size: number },
    extract: (write: (bytes: Buffer) => Promise<void>) => Promise<void>,
  ): Promise<BackupFilePart>;
  /** Deletes the files whose keys begin so. */
  forget(prefix: string): Promise<void>;
  /** Deletes everything, also what an earlier process left. */
  clear(): Promise<void>;
}

const MIB = 1024 ** 2;
const MOST_FILE_BYTES = 2048 * MIB;
const MOST_ALL_BYTES = 4096 * MIB;
const SPARE_BYTES = 1024 * MIB;
const IDLE_MS = 10 * 60_000;

interface Kept {
  path: string;
  size: number;
  /** Settles when the file is whole. */
  made: Promise<void>;
  /** Whether it is whole. */
  isMade: boolean;
  readers: number;
  idle: NodeJS.Timeout | undefined;
}

/** Keeps files for some minutes after the last read. Together they take at most 4 GiB. */
export function createExtractedFiles({
  folder,
  mostFileBytes = MOST_FILE_BYTES,
  idleMs = IDLE_MS,
}: {
  folder: string;
  mostFileBytes?: number;
  idleMs?: number;
}): ExtractedFiles {
  const kept = new Map<string, Kept>();

  async function make(
    path: string,
    size: number,
    extract: (write: (bytes: Buffer) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await requireRoom();
    const file = await open(path, 'wx', 0o600);
    let written = 0;
    try {
      await extract(async (bytes) => {
        written += bytes.length;
        if (written > size) throw new Error('a file of a backup is longer than its index says');
        await file.writeFile(bytes);
      });
      if (written !== size) throw new Error('a file of a backup is shorter than its index says');
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  }

  /** The new file counts already. */
  async function requireRoom(): Promise<void> {
    for (const [key, { size: bytes, readers }] of kept) {
      if (total() <= MOST_ALL_BYTES) break;
      if (readers === 0 && bytes > 0) await drop(key);
    }
    const { bavail, bsize } = await statfs(folder);
    const unwritten = total(({ isMade }) => !isMade);
    if (total() <= MOST_ALL_BYTES && bavail * bsize >= unwritten + SPARE_BYTES) return;
    throw new PermanentHostError('The disk has too little free space for the file. Try again later.');
  }

  const total = (isCounted: (one: Kept) => boolean = () => true) =>
    [...kept.values()].filter(isCounted).reduce((sum, { size }) => sum + size, 0);

  /** `only`: unless another one has taken its place. */
  async function drop(key: string, only?: Kept): Promise<void> {
    const found = kept.get(key);
    if (found === undefined || (only !== undefined && found !== only)) return;
    kept.delete(key);
    clearTimeout(found.idle);
    await found.made.catch(() => {});
    await rm(found.path, { force: true });
  }

  function begin(key: string, size: number, extract: Parameters<ExtractedFiles['read']>[2]): Kept {
    const path = join(folder, randomUUID());
    const entry: Kept = { path, size, made: Promise.resolve(), isMade: false, readers: 0, idle: undefined };
    kept.set(key, entry);
    entry.made = make(path, size, extract).then(
      () => {
        entry.isMade = true;
      },
      (error: unknown) => {
        if (kept.get(key) === entry) kept.delete(key);
        throw error;
      },
    );
    return entry;
  }

  return {
    async read(key, { offset, length, size }, extract) {
      if (size > mostFileBytes) {
        throw new FileTooLargeError(
          `The file has ${size} bytes, and single files up to ${mostFileBytes} bytes can be downloaded. Pack the whole backup instead.`,
        );
      }
      const entry = kept.get(key) ?? begin(key, size, extract);
      entry.readers += 1;
      clearTimeout(entry.idle);
      try {
        await entry.made;
        const file = await open(entry.path, 'r');
        try {
          const buffer = Buffer.allocUnsafe(Math.min(length, MOST_READ_BYTES));
          const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
          return { size, bytes: buffer.subarray(0, bytesRead) };
        } finally {
          await file.close();
        }
      } finally {
        entry.readers -= 1;
        if (entry.readers === 0) {
          clearTimeout(entry.idle);
          entry.idle = setTimeout(() => void drop(key, entry), idleMs);
          entry.idle.unref();
        }
      }
    },

    async forget(prefix) {
      for (const key of [...kept.keys()]) if (key.startsWith(prefix)) await drop(key);
    },

    async clear() {
      await Promise.all([...kept.keys()].map((key) => drop(key)));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
