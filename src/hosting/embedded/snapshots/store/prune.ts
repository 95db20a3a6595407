import { hasCode } from '../../../../lib/error-code.ts';
import { isFullDisk } from '../../../../lib/full-disk.ts';
import { addPack, type ChunkIndex, readIndex, removeLostMarks, removePack } from './chunk-index.ts';
import type { ChunkRef } from './chunk-list.ts';
import { createChunkReader } from './chunk-reader.ts';
import type { Disk } from './disk.ts';
import { chunksOf } from './manifest-chunks.ts';
import { DamagedPackError, type NewChunk, readPackList, writePack } from './pack-file.ts';

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

/**
 * Deletes the chunks that no manifest lists. The caller ensures that no backup of the install is being made meanwhile; readers find the
 * chunks in their new packs.
 *
 * It first reads all manifests, and changes nothing unless all are whole. Then it deletes packs that are not used at all: on a full disk,
 * that makes the room for the rest. The used chunks of other packs are written into a new one, verified and made durable before those are
 * deleted. So at every moment each used chunk is in a durable pack: if it is interrupted, some chunks are there twice, and the next run
 * deletes one copy.
 */
export function prune(folder: string, manifests: readonly string[], options: PruneOptions): void {
  const index = readIndex(folder);
  const used = usedChunks(folder, manifests, index, options.disk);
  const packs = [...index.packs].map(([name, { isSuspect }]) => useOf(name, isSuspect, index, used));
  const unused = packs.filter(({ usedBytes }) => usedBytes === 0).map(({ name }) => name);
  const isComplete = [...used].every((id) => index.places.has(id));
  // A list that cannot be read is worth keeping only while a chunk is missing.
  const obsolete = [...unused, ...(isComplete ? index.unreadable : [])];
  requireUsed(folder, new Set(obsolete), index, used);
  for (const name of obsolete) removePack(options.disk, folder, name);
  removeLostMarks(options.disk, folder);
  try {
    rewrite(folder, packsToRewrite(packs, options), index, used, options);
  } catch (error) {
    // The unused parts of packs stay until a later run has room for new packs. The deletions before stay.
    if (!isFullDisk(error)) throw error;
  }
  options.disk.syncFolder(folder);
}

/** All chunks of the manifests. Chunks with entries are read once, because most of them are of several backups. */
function usedChunks(
  folder: string,
  manifests: readonly string[],
  index: ChunkIndex,
  disk: Disk,
): Set<string> {
  const used = new Set<string>();
  const lists = new Set<string>();
  const reader = createChunkReader(folder, index, disk);
  const isKnown = ({ id }: ChunkRef): boolean => {
    const isListed = lists.has(id);
    lists.add(id);
    return isListed;
  };
  try {
    for (const manifest of manifests) {
      for (const { id } of chunksOf(manifest, { read: reader.read, isKnown })) used.add(id);
    }
  } finally {
    reader.close();
  }
  return used;
}

/** Throws if a chunk that is used would be lost. */
function requireUsed(folder: string, obsolete: Set<string>, former: ChunkIndex, used: Set<string>): void {
  const kept = new Set<string>();
  for (const [name, { chunks }] of readIndex(folder).packs) {
    if (!obsolete.has(name)) for (const { id } of chunks) kept.add(id);
  }
  for (const id of used) {
    if (former.places.has(id) && !kept.has(id)) throw new Error('a chunk that is used would be deleted');
  }
}

/** Bytes count as used in one pack only, even if the chunk is in several. */
function useOf(name: string, isSuspect: boolean, { packs, places }: ChunkIndex, used: Set<string>): PackUse {
  let bytes = 0;
  let usedBytes = 0;
  for (const { id, offset, stored } of packs.get(name)?.chunks ?? []) {
    bytes += stored;
    const place = places.get(id);
    // A chunk without bytes would not count.
    if (used.has(id) && place?.pack === name && place.offset === offset) usedBytes += Math.max(1, stored);
  }
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
  used: Set<string>,
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
    const chunks = usedChunksOf(name, folder, index, used, disk);
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
function usedChunksOf(
  name: string,
  folder: string,
  index: ChunkIndex,
  used: Set<string>,
  disk: Disk,
): NewChunk[] | null {
  const reader = createChunkReader(folder, index, disk);
  try {
    return (index.packs.get(name)?.chunks ?? [])
      .filter(({ id, offset }) => {
        const place = index.places.get(id);
        return used.has(id) && place?.pack === name && place.offset === offset;
      })
      .map((chunk) => ({
        ...chunk,
        bytes: reader.readStored({ ...chunk, pack: name, isSuspect: false, isUsed: true }),
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
  const index: ChunkIndex = { places: new Map(), packs: new Map(), unreadable: [] };
  addPack(index, name, readPackList(folder, name));
  const reader = createChunkReader(folder, index, disk);
  try {
    for (const place of index.places.values()) reader.readStored(place);
  } finally {
    reader.close();
  }
  return name;
}
