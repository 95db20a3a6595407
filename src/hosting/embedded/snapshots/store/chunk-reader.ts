import { hash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { hasCode } from '../../../../lib/error-code.ts';
import { type ChunkIndex, markDamaged, type Place, readIndex } from './chunk-index.ts';
import type { ChunkRef } from './chunk-list.ts';
import { type Disk, readFully } from './disk.ts';
import { DamagedPackError } from './pack-file.ts';

/** Reads chunks, and checks each by its SHA-256. */
export interface ChunkReader {
  /** Errors: {@link DamagedPackError}, and those of the system. */
  read(chunk: ChunkRef): Buffer;
  /** The verified copy at a place, as it is stored. */
  readStored(place: Place): Buffer;
  close(): void;
}

/** Open packs. Neighbouring files are in the same pack. */
const MOST_OPEN = 8;
/** The least that zlib accepts as the size of its output buffer. */
export const LEAST_OUTPUT = 64;
/** Packs can be exchanged for others while a chunk is read. */
const TRIES = 3;

export const idOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'buffer').toString('latin1');

export const hexOf = (id: string): string => Buffer.from(id, 'latin1').toString('hex').slice(0, 16);

/** `index` is read again when packs are exchanged for others meanwhile. */
export function createChunkReader(folder: string, index: ChunkIndex, disk: Disk): ChunkReader {
  let present = index;
  const open = new Map<string, number>();

  function fileOf(pack: string): number {
    const known = open.get(pack);
    if (known !== undefined) return known;
    for (const [oldest, file] of open) {
      if (open.size < MOST_OPEN) break;
      closeSync(file);
      open.delete(oldest);
    }
    const file = openSync(join(folder, pack), 'r');
    open.set(pack, file);
    return file;
  }

  /** Null if the pack is gone. */
  function storedBytes({ pack, offset, stored }: Place): Buffer | null {
    try {
      const bytes = Buffer.allocUnsafeSlow(stored);
      return bytes.subarray(0, readFully(fileOf(pack), bytes, offset));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    }
  }

  /** The copy in one pack; null if the pack is gone. */
  function readAt(place: Place): { stored: Buffer; content: Buffer } | null {
    const stored = storedBytes(place);
    if (stored === null) return null;
    const content = unpacked(stored, place);
    if (content !== null && content.length === place.length && idOf(content) === place.id) {
      return { stored, content };
    }
    noteDamage(place.pack);
    throw new DamagedPackError(`a chunk of the pack ${place.pack} does not match its checksum`);
  }

  function noteDamage(pack: string): void {
    try {
      markDamaged(disk, folder, pack);
    } catch (error) {
      // A disk that takes no mark must not hide the damage. Without the mark, the next reading finds it again.
      if (!(error instanceof Error && 'syscall' in error)) throw error;
    }
  }

  return {
    read({ id, length }) {
      let failure: DamagedPackError | null = null;
      for (let tried = 0; tried < TRIES; tried++) {
        const place = present.find(id);
        try {
          if (place !== null && place.length !== length) {
            throw new DamagedPackError(`the chunk ${hexOf(id)} has another length`);
          }
          const found = place === null ? null : readAt(place);
          if (found !== null) return found.content;
        } catch (error) {
          if (!(error instanceof DamagedPackError)) throw error;
          failure = error;
        }
        // Another copy may be in a pack that was written meanwhile.
        present = readIndex(folder);
      }
      throw failure ?? new DamagedPackError(`the chunk ${hexOf(id)} is missing`);
    },
    readStored(place) {
      const found = readAt(place);
      if (found === null) throw new Error(`the pack ${place.pack} is gone`);
      return found.stored;
    },
    close() {
      for (const file of open.values()) closeSync(file);
      open.clear();
    },
  };
}

/** Null if it cannot be decompressed. */
function unpacked(bytes: Buffer, { stored, length }: Place): Buffer | null {
  if (stored === length) return bytes;
  try {
    return zstdDecompressSync(bytes, {
      maxOutputLength: length,
      chunkSize: Math.max(LEAST_OUTPUT, length),
    });
  } catch {
    return null;
  }
}
