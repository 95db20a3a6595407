import { join } from 'node:path';
import { hasCode } from '../../../../lib/error-code.ts';
import { type Disk, namesIn } from './disk.ts';
import {
  DamagedPackError,
  isPack,
  markOf,
  marksIn,
  type PackedChunk,
  type PackList,
  packedChunk,
  packOfList,
  readPackList,
} from './pack-file.ts';

export interface Place extends PackedChunk {
  pack: string;
  isSuspect: boolean;
}

/** What a store notes of a chunk: a backup that is being made has it, a manifest lists it, a check has seen it. */
export const USED = 1;
export const SEEN = 2;
type Note = typeof USED | typeof SEEN;

export interface IndexedPack {
  name: string;
  list: PackList;
  isSuspect: boolean;
  /** One byte of notes for each chunk. Of several copies of a chunk, only the one that is found has notes. */
  notes: Uint8Array;
}

/**
 * Where the chunks of a store are. The packs themselves are the only record of it. A store can have millions of chunks, so their ids and
 * places are the lists of the packs as they were read, and a table that finds them: some 70 bytes for each chunk.
 */
export interface ChunkIndex {
  packs: ReadonlyMap<string, IndexedPack>;
  /** Packs whose list cannot be read. */
  unreadable: readonly string[];
  add(name: string, list: PackList, isSuspect?: boolean): void;
  /** One copy of a chunk, if possible in a pack without damage; null if the store does not have it. */
  find(id: string): Place | null;
  /** Notes something of a chunk. False if the store does not have it. */
  note(id: string, note: Note): boolean;
  has(id: string, note: Note): boolean;
  /** Forgets a note of all chunks. */
  forget(note: Note): void;
}

/** The chunks of a pack with a note. */
export function* notedIn({ list, notes }: IndexedPack, note: Note): Generator<PackedChunk> {
  for (let at = 0; at < list.count; at++) {
    if (((notes[at] ?? 0) & note) !== 0) yield packedChunk(list, at);
  }
}

const LEAST_SLOTS = 1024;
/** Of the slots in use. */
const MOST_FULL = 0.7;

export function createIndex(): ChunkIndex {
  const packs = new Map<string, IndexedPack>();
  const numbered: IndexedPack[] = [];
  /** Two numbers for each slot: of the pack, from 1 (0: empty), and of the chunk in it. */
  let slots = new Uint32Array(2 * LEAST_SLOTS);
  let count = 0;

  /** The slot of a chunk, or the empty one for it. The ids are checksums, so a part of one is as good as a hash of it. */
  function slotOf(firstBytes: number, isSame: (pack: IndexedPack, at: number) => boolean): number {
    const mask = slots.length / 2 - 1;
    for (let slot = firstBytes & mask; ; slot = (slot + 1) & mask) {
      const pack = numbered[(slots[2 * slot] ?? 0) - 1];
      if (pack === undefined || isSame(pack, slots[2 * slot + 1] ?? 0)) return slot;
    }
  }

  const slotOfId = (id: string): number => slotOf(firstBytesOf(id), ({ list }, at) => list.isId(at, id));

  function placed(id: string): { pack: IndexedPack; at: number } | null {
    const slot = slotOfId(id);
    const pack = numbered[(slots[2 * slot] ?? 0) - 1];
    return pack === undefined ? null : { pack, at: slots[2 * slot + 1] ?? 0 };
  }

  function grow(): void {
    const former = slots;
    slots = new Uint32Array(2 * former.length);
    for (let slot = 0; slot < former.length; slot += 2) {
      const [number = 0, at = 0] = [former[slot], former[slot + 1]];
      const pack = numbered[number - 1];
      if (pack === undefined) continue;
      // No chunk is there twice.
      const free = slotOf(pack.list.firstBytes(at), () => false);
      slots[2 * free] = number;
      slots[2 * free + 1] = at;
    }
  }

  return {
    packs,
    unreadable: [],
    add(name, list, isSuspect = false) {
      const pack = { name, list, isSuspect, notes: new Uint8Array(list.count) };
      packs.set(name, pack);
      const number = numbered.push(pack);
      for (let at = 0; at < list.count; at++) {
        const slot = slotOf(list.firstBytes(at), (other, index) => list.isSame(at, other.list, index));
        const known = numbered[(slots[2 * slot] ?? 0) - 1];
        if (known !== undefined && (!known.isSuspect || isSuspect)) continue;
        if (known === undefined) count += 1;
        else {
          const former = slots[2 * slot + 1] ?? 0;
          pack.notes[at] = known.notes[former] ?? 0;
          known.notes[former] = 0;
        }
        slots[2 * slot] = number;
        slots[2 * slot + 1] = at;
        if (count > (MOST_FULL * slots.length) / 2) grow();
      }
    },
    find(id) {
      const found = placed(id);
      if (found === null) return null;
      const { name: pack, list, isSuspect } = found.pack;
      return { ...packedChunk(list, found.at), pack, isSuspect };
    },
    note(id, note) {
      const found = placed(id);
      if (found === null) return false;
      found.pack.notes[found.at] = (found.pack.notes[found.at] ?? 0) | note;
      return true;
    },
    has(id, note) {
      const found = placed(id);
      return found !== null && ((found.pack.notes[found.at] ?? 0) & note) !== 0;
    },
    forget(note) {
      for (const { notes } of packs.values()) {
        for (let at = 0; at < notes.length; at++) notes[at] = (notes[at] ?? 0) & ~note;
      }
    },
  };
}

const firstBytesOf = (id: string): number =>
  (id.charCodeAt(0) << 24) | (id.charCodeAt(1) << 16) | (id.charCodeAt(2) << 8) | id.charCodeAt(3);

/** `without`: packs that are left out. */
export function readIndex(folder: string, without: ReadonlySet<string> = new Set()): ChunkIndex {
  const index = createIndex();
  const unreadable: string[] = [];
  const names = new Set(namesIn(folder));
  for (const name of names) {
    const elsewhere = packOfList(name);
    const pack = elsewhere ?? name;
    if (!isPack(pack) || without.has(pack)) continue;
    try {
      index.add(pack, readPackList(folder, pack, elsewhere !== null), names.has(markOf(pack)));
    } catch (error) {
      if (error instanceof DamagedPackError) unreadable.push(pack);
      // Deleted since the names were read: its chunks are in a pack that was written before.
      else if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
  return { ...index, unreadable };
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
