import { type ChunkIndex, readIndex, removePack } from './chunk-index.ts';
import { createChunkReader } from './chunk-reader.ts';
import type { Disk } from './disk.ts';
import { chunksOf } from './manifest-chunks.ts';
import { DamagedPackError, type NewChunk, writePack } from './pack-file.ts';

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
 * It first reads all manifests, and changes nothing unless all are whole. Then it writes what is used of the packs that it will delete
 * into new ones, verified, makes those durable, and only then deletes. So at every moment each used chunk is in a durable pack: if it is
 * interrupted, some chunks are there twice, and the next run deletes one copy.
 */
export function prune(folder: string, manifests: readonly string[], options: PruneOptions): void {
  const used = new Set<string>();
  for (const manifest of manifests) for (const { id } of chunksOf(manifest)) used.add(id);

  const index = readIndex(folder);
  const packs = [...index.packs].map(([name, { isSuspect }]) => useOf(name, isSuspect, index, used));
  const unused = packs.filter(({ usedBytes }) => usedBytes === 0).map(({ name }) => name);
  const rewritten = rewrite(folder, packsToRewrite(packs, options), index, used, options);
  const isComplete = [...used].every((id) => index.places.has(id));
  // A list that cannot be read is worth keeping only while a chunk is missing.
  const unreadable = isComplete ? index.unreadable : [];
  const { written } = rewritten;
  // A new pack can have the name of one that was unused, because equal chunks in equal order make equal packs.
  const obsolete = [...unused, ...rewritten.obsolete, ...unreadable].filter(
    (name) => !written.includes(name),
  );
  requireUsed(folder, new Set(obsolete), index, used);
  for (const name of obsolete) removePack(options.disk, folder, name);
  options.disk.syncFolder(folder);
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
  // A damaged pack stays as it is while any of it is used.
  const sound = packs.filter(({ usedBytes, isSuspect }) => usedBytes > 0 && !isSuspect);
  const wasteful = sound.filter(({ bytes, usedBytes }) => bytes - usedBytes > UNUSED_SHARE * bytes);
  const small = sound.filter((pack) => !wasteful.includes(pack) && pack.bytes < SMALL_SHARE * packBytes);
  return small.length >= MOST_SMALL ? [...wasteful, ...small] : wasteful;
}

/** Writes what is used of the packs into new ones. `obsolete`: the packs that are not needed any more. */
function rewrite(
  folder: string,
  packs: readonly PackUse[],
  index: ChunkIndex,
  used: Set<string>,
  { disk, packBytes }: PruneOptions,
): { written: string[]; obsolete: string[] } {
  const reader = createChunkReader(folder, index, disk);
  const obsolete: string[] = [];
  const written: string[] = [];
  let waiting: NewChunk[] = [];
  const write = (): void => {
    if (waiting.length > 0) written.push(writePack(disk, folder, waiting));
    waiting = [];
  };
  try {
    for (const { name } of packs) {
      const chunks: NewChunk[] = [];
      try {
        for (const chunk of index.packs.get(name)?.chunks ?? []) {
          const place = index.places.get(chunk.id);
          if (!used.has(chunk.id) || place?.pack !== name || place.offset !== chunk.offset) continue;
          chunks.push({ ...chunk, bytes: reader.readStored(place) });
        }
      } catch (error) {
        // It is marked by now, and stays.
        if (error instanceof DamagedPackError) continue;
        throw error;
      }
      waiting.push(...chunks);
      obsolete.push(name);
      if (waiting.reduce((sum, { bytes }) => sum + bytes.length, 0) >= packBytes) write();
    }
    write();
  } finally {
    reader.close();
  }
  if (written.length > 0) disk.syncFolder(folder);
  readBack(folder, written, disk);
  return { written, obsolete };
}

/** Rejects what the disk did not keep, before the former packs are deleted. */
function readBack(folder: string, written: readonly string[], disk: Disk): void {
  const index = readIndex(folder);
  const reader = createChunkReader(folder, index, disk);
  try {
    for (const pack of written) {
      const chunks = index.packs.get(pack)?.chunks;
      if (chunks === undefined) throw new Error(`the new pack ${pack} cannot be read`);
      for (const chunk of chunks) reader.readStored({ ...chunk, pack, isSuspect: false });
    }
  } finally {
    reader.close();
  }
}
