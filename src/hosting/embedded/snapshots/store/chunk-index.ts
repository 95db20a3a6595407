import { join } from 'node:path';
import { hasCode } from '../../../../lib/error-code.ts';
import { type Disk, namesIn } from './disk.ts';
import {
  DamagedPackError,
  isPack,
  markOf,
  marksIn,
  type PackedChunk,
  packOfList,
  readPackList,
} from './pack-file.ts';

export interface Place extends PackedChunk {
  pack: string;
  isSuspect: boolean;
  /** Whether a backup that is being made has the chunk. */
  isUsed: boolean;
}

/** Where the chunks of a store are. The packs themselves are the only record of it. */
export interface ChunkIndex {
  /** One copy of each chunk, if possible in a pack without damage. */
  places: Map<string, Place>;
  packs: Map<string, { chunks: PackedChunk[]; isSuspect: boolean }>;
  /** Packs whose list cannot be read. */
  unreadable: string[];
}

export function readIndex(folder: string): ChunkIndex {
  const index: ChunkIndex = { places: new Map(), packs: new Map(), unreadable: [] };
  const names = new Set(namesIn(folder));
  for (const name of names) {
    const elsewhere = packOfList(name);
    const pack = elsewhere ?? name;
    if (!isPack(pack)) continue;
    try {
      addPack(index, pack, readPackList(folder, pack, elsewhere !== null), names.has(markOf(pack)));
    } catch (error) {
      if (error instanceof DamagedPackError) index.unreadable.push(pack);
      // Deleted since the names were read: its chunks are in a pack that was written before.
      else if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
  return index;
}

export function addPack(index: ChunkIndex, pack: string, chunks: PackedChunk[], isSuspect = false): void {
  // Shared by both maps, because a store can have millions of them.
  const placed = chunks.map((chunk): Place => ({ ...chunk, pack, isSuspect, isUsed: false }));
  index.packs.set(pack, { chunks: placed, isSuspect });
  for (const place of placed) {
    const known = index.places.get(place.id);
    if (known === undefined || (known.isSuspect && !isSuspect)) index.places.set(place.id, place);
  }
}

export function markDamaged(disk: Disk, folder: string, pack: string): void {
  disk.write(join(folder, markOf(pack)), []);
}

/** Deletes a pack, and then its mark: a damaged pack must not count as sound. */
export function removePack(disk: Disk, folder: string, pack: string): void {
  disk.remove(join(folder, pack));
  disk.remove(join(folder, markOf(pack)));
}

/** Deletes marks without their packs: a kill, or a reader that has found the damage too late, leaves them. */
export function removeLostMarks(disk: Disk, folder: string): void {
  for (const mark of marksIn(namesIn(folder)).lost) disk.remove(join(folder, mark));
}
