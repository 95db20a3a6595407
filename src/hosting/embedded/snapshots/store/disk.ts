import {
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writevSync,
} from 'node:fs';
import { hasCode } from '../../../../lib/error-code.ts';

/** Changes that a store makes in its folder. Tests replace the changes by ones that fail. The store runs in a thread, so nothing else waits. */
export interface Disk {
  /** Writes a new file and makes its content durable. An existing one is replaced. */
  write(path: string, pieces: readonly Uint8Array[]): void;
  rename(from: string, to: string): void;
  /** Deletes a file. A missing one is success. */
  remove(path: string): void;
  /** Makes the names in a folder durable. */
  syncFolder(path: string): void;
}

export const realDisk: Disk = {
  write(path, pieces) {
    const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
    try {
      writeAll(file, pieces);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  },
  rename: renameSync,
  remove: (path) => rmSync(path, { force: true }),
  syncFolder(path) {
    const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  },
};

/** The most buffers that one system call takes. */
const MOST_BUFFERS = 1000;

function writeAll(file: number, pieces: readonly Uint8Array[]): void {
  let rest = pieces.filter(({ length }) => length > 0);
  while (rest.length > 0) {
    let written = writevSync(file, rest.slice(0, MOST_BUFFERS));
    let whole = 0;
    for (; whole < rest.length; whole++) {
      const length = rest[whole]?.length ?? 0;
      if (written < length) break;
      written -= length;
    }
    rest = rest.slice(whole);
    const [first] = rest;
    if (first !== undefined && written > 0) rest[0] = first.subarray(written);
  }
}

export function createFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** The names in a folder; none if it is missing. */
export function namesIn(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Fills the buffer from an open file. Returns how many bytes there were. */
export function readFully(file: number, into: Uint8Array, position: number): number {
  let done = 0;
  while (done < into.length) {
    const read = readSync(file, into, done, into.length - done, position + done);
    if (read === 0) break;
    done += read;
  }
  return done;
}
