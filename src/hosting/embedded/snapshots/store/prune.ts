import { hasCode } from '../../../../lib/error-code.ts';
import { isFullDisk } from '../../../../lib/full-disk.ts';
import {
  type ChunkIndex,
  createIndex,
  type IndexedPack,
  notedIn,
  readIndex,
  removeLostMarks,
  removePack,
  USED,
} from './chunk-index.ts';
import { createChunkReader } from './chunk-reader.ts';
import type { Disk } from './disk.ts';
import { chunksOf, DamagedListError, type ListReading } from './manifest-chunks.ts';
import { chunksIn, DamagedPackError, type NewChunk, readPackList, writePack } from './pack-file.ts';

export interface PruneOptions {
  disk: Disk;
  packBytes: number;
  /** Whether partly unused packs are written again without the unused part. */
  mayRewrite: boolean;
}

/** Unused bytes that a pack may keep, because writing it again costs more. */
const UNUSED_SHARE = 0.25;
/** So many small packs are joined. */
const MOST_SMALL = 16;
const SMALL_SHARE = 0.25;

interface PackUse {
  name: string;
  bytes: number;
  usedBytes: number;
  isSuspect: boolean;
}

/** A manifest that cannot be read whole. `reason` continues a sentence. */
export interface DamagedManifest {
  manifest: string;
  reason: string;
}

/**
 * Deletes the chunks that no manifest lists. The caller ensures that no backup of the install is being made meanwhile; readers find the
 * chunks in their new packs.
 *
 * It first reads all manifests, and changes nothing unless all are whole: nothing says what a damaged one needs, and its list may come back
 * with a repaired pack. Then it deletes packs that are not used at all: on a full disk, that makes the room for the rest. The used chunks of
 * other packs are written into a new one, verified and made durable before those are deleted. So at every moment each used chunk is in a
 * durable pack: if it is interrupted, some chunks are there twice, and the next run deletes one copy.
 *
 * @returns the damaged manifests. With any, nothing was deleted
 */
export function prune(
  folder: string,
  manifests: readonly string[],
  options: PruneOptions,
): DamagedManifest[] {
  const index = readIndex(folder);
  const { damaged, isComplete } = noteUsed(folder, manifests, index, options.disk);
  if (damaged.length > 0) return damaged;
  const packs = [...index.packs.values()].map(useOf);
  const unused = packs.filter(({ usedBytes }) => usedBytes === 0).map(({ name }) => name);
  // A list that cannot be read is worth keeping only while a chunk is missing.
  const obsolete = [...unused, ...(isComplete ? index.unreadable : [])];
  requireUsed(folder, new Set(obsolete), index);
  for (const name of obsolete) removePack(options.disk, folder, name);
  removeLostMarks(options.disk, folder);
  try {
    rewrite(folder, packsToRewrite(packs, options), index, options);
  } catch (error) {
    // The unused parts of packs stay until a later run has room for new packs. The deletions before stay.
    if (!isFullDisk(error)) throw error;
  }
  options.disk.syncFolder(folder);
  return [];
}

/**
 * Notes all chunks of the manifests as used. Chunks with entries are read once, because most of them are of several backups. `isComplete`:
 * the store has all of them.
 */
function noteUsed(
  folder: string,
  manifests: readonly string[],
  index: ChunkIndex,
  disk: Disk,
): { damaged: DamagedManifest[]; isComplete: boolean } {
  const damaged: DamagedManifest[] = [];
  let isComplete = true;
  /** Chunks with entries that have been read. */
  const lists = new Set<string>();
  const reader = createChunkReader(folder, index, disk);
  const reading: ListReading = {
    isKnown: ({ id }) => lists.has(id),
    read(list) {
      const entries = reader.read(list);
      lists.add(list.id);
      return entries;
    },
  };
  try {
    for (const manifest of manifests) {
      try {
        for (const { id } of chunksOf(manifest, reading)) {
          if (!index.note(id, USED)) isComplete = false;
        }
      } catch (error) {
        if (!(error instanceof DamagedListError || error instanceof DamagedPackError)) throw error;
        damaged.push({ manifest, reason: error.message });
      }
    }
  } finally {
    reader.close();
  }
  return { damaged, isComplete };
}

/** Throws if a chunk that is used would be lost. */
function requireUsed(folder: string, obsolete: ReadonlySet<string>, former: ChunkIndex): void {
  const kept = readIndex(folder, obsolete);
  for (const pack of former.packs.values()) {
    for (const { id } of notedIn(pack, USED)) {
      if (kept.find(id) === null) throw new Error('a chunk that is used would be deleted');
    }
  }
}

/** Bytes count as used in one pack only, even if the chunk is in several. */
function useOf(pack: IndexedPack): PackUse {
  const { name, list, isSuspect } = pack;
  let bytes = 0;
  for (let at = 0; at < list.count; at++) bytes += list.storedOf(at);
  let usedBytes = 0;
  // A chunk without bytes would not count.
  for (const { stored } of notedIn(pack, USED)) usedBytes += Math.max(1, stored);
  return { name, bytes, usedBytes, isSuspect };
}

function packsToRewrite(packs: readonly PackUse[], { packBytes, mayRewrite }: PruneOptions): PackUse[] {
  if (!mayRewrite) return [];
  const used = packs.filter(({ usedBytes }) => usedBytes > 0);
  // One whose damaged chunks are in a later pack, too, can go. Otherwise it stays as it is.
  const suspect = used.filter(({ isSuspect }) => isSuspect);
  const sound = used.filter(({ isSuspect }) => !isSuspect);
  const wasteful = sound.filter(({ bytes, usedBytes }) => bytes - usedBytes > UNUSED_SHARE * bytes);
  const small = sound.filter((pack) => !wasteful.includes(pack) && pack.bytes < SMALL_SHARE * packBytes);
  return [...suspect, ...wasteful, ...(small.length >= MOST_SMALL ? small : [])];
}

/** Writes what is used of the packs into new ones, and deletes them. A new pack is about as large as others, so little room is needed. */
function rewrite(
  folder: string,
  packs: readonly PackUse[],
  index: ChunkIndex,
  { disk, packBytes }: PruneOptions,
): void {
  let waiting: NewChunk[] = [];
  let waitingBytes = 0;
  let former: string[] = [];
  const exchange = (): void => {
    if (waiting.length === 0) return;
    const written = writeVerified(disk, folder, waiting);
    // Equal chunks in equal order make an equal pack, so it can have the name of a former one.
    for (const name of former) if (name !== written) removePack(disk, folder, name);
    waiting = [];
    waitingBytes = 0;
    former = [];
  };
  for (const { name } of packs) {
    const chunks = usedChunksOf(name, folder, index, disk);
    if (chunks === null) continue;
    for (const chunk of chunks) {
      waiting.push(chunk);
      waitingBytes += chunk.bytes.length;
    }
    former.push(name);
    if (waitingBytes >= packBytes) exchange();
  }
  exchange();
}

/** Null if the disk does not give them back as they were: the pack stays. */
function usedChunksOf(name: string, folder: string, index: ChunkIndex, disk: Disk): NewChunk[] | null {
  const pack = index.packs.get(name);
  if (pack === undefined) return null;
  const reader = createChunkReader(folder, index, disk);
  try {
    return [...notedIn(pack, USED)].map((chunk) => ({
      ...chunk,
      bytes: reader.readStored({ ...chunk, pack: name, isSuspect: false }),
    }));
  } catch (error) {
    // A damaged pack is marked by now. The other is a fault of the medium.
    if (error instanceof DamagedPackError || hasCode(error, 'EIO')) return null;
    throw error;
  } finally {
    // An open file would keep the space of a deleted pack.
    reader.close();
  }
}

/** Writes a pack. Rejects what the disk did not keep, before the former packs are deleted. */
function writeVerified(disk: Disk, folder: string, chunks: readonly NewChunk[]): string {
  const name = writePack(disk, folder, chunks);
  disk.syncFolder(folder);
  const list = readPackList(folder, name);
  const index = createIndex();
  index.add(name, list);
  const reader = createChunkReader(folder, index, disk);
  try {
    for (const chunk of chunksIn(list)) reader.readStored({ ...chunk, pack: name, isSuspect: false });
  } finally {
    reader.close();
  }
  return name;
}
