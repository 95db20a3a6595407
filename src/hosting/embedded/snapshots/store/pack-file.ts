import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type Disk, readFully } from './disk.ts';

/**
 * A pack holds chunks one after the other, so that thousands of small files become one file of the disk:
 *
 * | part | content |
 * |---|---|
 * | chunks | as stored: compressed with zstd, or as they are if that saves nothing |
 * | list | for each chunk its SHA-256 (32 bytes), its stored length and its length (4 bytes each, big-endian) |
 * | end | the number of chunks (4 bytes), the SHA-256 of the list, and `HPPACK01` |
 *
 * Equal lengths mean that a chunk is not compressed. A pack is named by the SHA-256 of its list, and never changes.
 */
const MAGIC = Buffer.from('HPPACK01');
const ENTRY_BYTES = 40;
const ID_BYTES = 32;
const END_BYTES = 4 + ID_BYTES + MAGIC.length;
const ENDING = '.pack';
const NAME = /^[0-9a-f]{64}\.pack$/;
/** Written, but without its name. */
export const UNFINISHED = '.part';
/** A pack with this mark beside it has a chunk that did not match its checksum. Backups store the contents of the pack again. */
const MARK = '.damaged';
/** The list and the end of a pack that is elsewhere. Its chunks count as stored, and cannot be read. */
const LIST = '.list';
/** Enough for the list of most packs. */
const READ_AHEAD = 64 * 1024;

export interface PackedChunk {
  /** SHA-256 of the chunk, one character for each byte. */
  id: string;
  offset: number;
  /** Stored bytes. */
  stored: number;
  /** Bytes of the chunk itself. */
  length: number;
}

/** The list of a pack as it is in the file, because a pack can have thousands of chunks. */
export interface PackList {
  count: number;
  idOf(at: number): string;
  isId(at: number, id: string): boolean;
  isSame(at: number, other: PackList, otherAt: number): boolean;
  /** The first four bytes of an id. */
  firstBytes(at: number): number;
  offsetOf(at: number): number;
  storedOf(at: number): number;
  lengthOf(at: number): number;
  bytes: Buffer;
}

export const packedChunk = (list: PackList, at: number): PackedChunk => ({
  id: list.idOf(at),
  offset: list.offsetOf(at),
  stored: list.storedOf(at),
  length: list.lengthOf(at),
});

/** The chunks of a list, one after the other. */
export function* chunksIn(list: PackList): Generator<PackedChunk> {
  for (let at = 0; at < list.count; at++) yield packedChunk(list, at);
}

function packListOf(bytes: Buffer): PackList {
  const count = bytes.length / ENTRY_BYTES;
  const offsets = new Float64Array(count);
  const storedOf = (at: number) => bytes.readUInt32BE(at * ENTRY_BYTES + ID_BYTES);
  for (let at = 1; at < count; at++) offsets[at] = (offsets[at - 1] ?? 0) + storedOf(at - 1);
  return {
    count,
    bytes,
    idOf: (at) => bytes.toString('latin1', at * ENTRY_BYTES, at * ENTRY_BYTES + ID_BYTES),
    isId(at, id) {
      const start = at * ENTRY_BYTES;
      for (let index = 0; index < ID_BYTES; index++) {
        if (bytes[start + index] !== id.charCodeAt(index)) return false;
      }
      return true;
    },
    isSame(at, other, otherAt) {
      const [start, from] = [at * ENTRY_BYTES, otherAt * ENTRY_BYTES];
      return bytes.compare(other.bytes, from, from + ID_BYTES, start, start + ID_BYTES) === 0;
    },
    firstBytes: (at) => bytes.readInt32BE(at * ENTRY_BYTES),
    offsetOf: (at) => offsets[at] ?? 0,
    storedOf,
    lengthOf: (at) => bytes.readUInt32BE(at * ENTRY_BYTES + ID_BYTES + 4),
  };
}

/** The pack differs from what was written. `message` continues a sentence. */
export class DamagedPackError extends Error {
  override name = 'DamagedPackError';
}

export const listOf = (pack: string): string => `${pack}${LIST}`;

/** The pack whose list a file is; null if it is none. */
export function packOfList(name: string): string | null {
  const pack = name.slice(0, -LIST.length);
  return name.endsWith(LIST) && isPack(pack) ? pack : null;
}

/** Bytes of the list and the end of a pack. */
export const listBytesOf = (chunks: number): number => chunks * ENTRY_BYTES + END_BYTES;

export const markOf = (pack: string): string => `${pack}${MARK}`;

const isMark = (name: string): boolean => name.endsWith(MARK) && isPack(name.slice(0, -MARK.length));

/** The marks among the names in a folder: those whose packs are there, and others. */
export function marksIn(names: readonly string[]): { present: string[]; lost: string[] } {
  const all = new Set(names);
  const marks = names.filter(isMark);
  const hasPack = (mark: string) => all.has(mark.slice(0, -MARK.length));
  return { present: marks.filter(hasPack), lost: marks.filter((mark) => !hasPack(mark)) };
}

export const isPack = (name: string): boolean => NAME.test(name);

export interface NewChunk {
  id: string;
  length: number;
  bytes: Uint8Array;
}

/** Writes a pack. It has its name, which is returned, but {@link Disk.syncFolder} makes that durable. */
export function writePack(disk: Disk, folder: string, chunks: readonly NewChunk[]): string {
  const list = Buffer.alloc(chunks.length * ENTRY_BYTES);
  for (const [index, { id, bytes, length }] of chunks.entries()) {
    const at = index * ENTRY_BYTES;
    list.write(id, at, 'latin1');
    list.writeUInt32BE(bytes.length, at + ID_BYTES);
    list.writeUInt32BE(length, at + ID_BYTES + 4);
  }
  const hash = createHash('sha256').update(list).digest();
  const count = Buffer.alloc(4);
  count.writeUInt32BE(chunks.length);
  const name = `${hash.toString('hex')}${ENDING}`;
  const path = join(folder, name);
  try {
    disk.write(`${path}${UNFINISHED}`, [...chunks.map(({ bytes }) => bytes), list, count, hash, MAGIC]);
  } catch (error) {
    // A full disk needs the room at once.
    disk.remove(`${path}${UNFINISHED}`);
    throw error;
  }
  disk.rename(`${path}${UNFINISHED}`, path);
  // It may have replaced a damaged pack with the same chunks.
  disk.remove(markOf(path));
  return name;
}

/**
 * Reads the list of a pack, and checks it and the size of the file. Errors: {@link DamagedPackError}, and those of the system.
 *
 * @param isElsewhere only the list is here: see {@link listOf}
 */
export function readPackList(folder: string, name: string, isElsewhere = false): PackList {
  const file = openSync(join(folder, isElsewhere ? listOf(name) : name), 'r');
  try {
    const { size } = fstatSync(file);
    const tail = readEnd(file, size, Math.min(size, READ_AHEAD));
    const end = tail.subarray(Math.max(0, tail.length - END_BYTES));
    if (end.length < END_BYTES || !end.subarray(4 + ID_BYTES).equals(MAGIC)) {
      throw new DamagedPackError(`the pack ${name} is not complete`);
    }
    const count = end.readUInt32BE(0);
    const listBytes = count * ENTRY_BYTES;
    if (listBytes + END_BYTES > size) throw new DamagedPackError(`the list of the pack ${name} is damaged`);
    const whole = listBytes + END_BYTES <= tail.length ? tail : readEnd(file, size, listBytes + END_BYTES);
    const list = whole.subarray(whole.length - END_BYTES - listBytes, whole.length - END_BYTES);
    const hash = createHash('sha256').update(list).digest();
    if (!hash.equals(end.subarray(4, 4 + ID_BYTES)) || name !== `${hash.toString('hex')}${ENDING}`) {
      throw new DamagedPackError(`the list of the pack ${name} is damaged`);
    }
    // Without the rest of what was read.
    const chunks = packListOf(Buffer.from(list));
    const last = chunks.count - 1;
    const contents = last < 0 ? 0 : chunks.offsetOf(last) + chunks.storedOf(last);
    if ((isElsewhere ? 0 : contents) + listBytes + END_BYTES !== size) {
      throw new DamagedPackError(`the pack ${name} has another size than its list`);
    }
    return chunks;
  } finally {
    closeSync(file);
  }
}

function readEnd(file: number, size: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  const read = readFully(file, buffer, size - bytes);
  return buffer.subarray(0, read);
}
