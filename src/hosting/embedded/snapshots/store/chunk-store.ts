import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { createChunkCutter } from './chunk-cutter.ts';
import { type ChunkIndex, notedIn, readIndex, SEEN, USED } from './chunk-index.ts';
import type { ChunkRef } from './chunk-list.ts';
import { createChunkReader, idOf, LEAST_OUTPUT } from './chunk-reader.ts';
import { createFolder, type Disk, namesIn, realDisk } from './disk.ts';
import { chunksOf } from './manifest-chunks.ts';
import { chunksIn, type NewChunk, readPackList, UNFINISHED, writePack } from './pack-file.ts';
import { type DamagedManifest, prune } from './prune.ts';
import { type FileToWrite, writeFile } from './written-files.ts';

/**
 * The chunks of all backups of one install, in pack files in one folder. Equal chunks are stored once. Everything here waits for the
 * disk, so it runs in a thread (store-thread.ts).
 *
 * A backup exists once its manifest has its name, and a manifest gets its name only after all of its chunks are durable. Chunks without a
 * manifest are what an interrupted backup leaves: the next one uses them, or {@link ChunkStore.prune} deletes them.
 */
export interface ChunkStore {
  /** Stores a chunk, unless the store has it. */
  add(chunk: Uint8Array): ChunkRef;
  /** Stores a file in chunks. */
  cut(content: Uint8Array): ChunkRef[];
  /** Takes the next bytes of a large file. */
  push(bytes: Uint8Array, isDatabase: boolean): void;
  /** Ends the large file, and returns its chunks. */
  end(): ChunkRef[];
  /** Makes new chunks durable, and reads them back. Returns the bytes that were added to the store. */
  finish(): number;
  /**
   * The number of chunks in a manifest that the store lacks, or has in a damaged pack only. `isThorough`: reads and verifies all of them,
   * so those of a damaged pack count if they are whole.
   */
  check(manifest: string, isThorough: boolean): number;
  /** Reads and verifies chunks. */
  read(chunks: readonly ChunkRef[]): Buffer<ArrayBuffer>;
  /** Writes verified contents into new files. */
  writeFiles(files: readonly FileToWrite[], sync: boolean): void;
  /** Deletes what no backup in the folder above uses: see prune.ts. */
  prune(manifests: readonly string[], mayRewrite: boolean): DamagedManifest[];
  /** The packs with chunks that were added, whether they were new or not. */
  usedPacks(): UsedPack[];
  close(): void;
}

/** A pack, and how much of it a backup needs. */
export interface UsedPack {
  name: string;
  /** Chunks in the pack. */
  chunks: number;
  usedBytes: number;
}

/** A pack is written when it has so many bytes. In an object storage, a pack would be an object. */
const PACK_BYTES = 16 * 1024 * 1024;
/** Tiny files would fill memory before they fill a pack. */
const MOST_CHUNKS = 20_000;
const LEVEL = 3;
/** Images and archives do not shrink. A piece in the middle of a large chunk shows it. */
const PROBED_BYTES = 16 * 1024;
const WORTH = 0.97;

export interface StoreOptions {
  disk?: Disk;
  packBytes?: number;
}

export function createChunkStore(
  folder: string,
  { disk = realDisk, packBytes = PACK_BYTES }: StoreOptions = {},
): ChunkStore {
  let index: ChunkIndex | null = null;
  let isCleared = false;
  const known = (): ChunkIndex => {
    index ??= readIndex(folder);
    return index;
  };
  let reader: ReturnType<typeof createChunkReader> | null = null;
  const reading = () => {
    reader ??= createChunkReader(folder, known(), disk);
    return reader;
  };

  /** Chunks of the pack that is being filled. */
  const waiting = new Map<string, NewChunk>();
  let waitingBytes = 0;
  const written: string[] = [];
  let cutter: ReturnType<typeof createChunkCutter> | null = null;
  let cut: ChunkRef[] = [];

  /** Before the first change: what an interrupted run has left without a name is deleted. */
  function prepare(): void {
    if (isCleared) return;
    createFolder(folder);
    for (const name of namesIn(folder).filter((one) => one.endsWith(UNFINISHED))) {
      disk.remove(join(folder, name));
    }
    isCleared = true;
  }

  function add(chunk: Uint8Array): ChunkRef {
    const id = idOf(chunk);
    const { length } = chunk;
    const place = known().find(id);
    if ((place === null || place.isSuspect) && !waiting.has(id)) {
      waiting.set(id, { id, length, bytes: packed(chunk) });
      waitingBytes += waiting.get(id)?.bytes.length ?? 0;
      if (waitingBytes >= packBytes || waiting.size >= MOST_CHUNKS) writeWaiting();
    } else known().note(id, USED);
    return { id, length };
  }

  function writeWaiting(): void {
    if (waiting.size === 0) return;
    prepare();
    const name = writePack(disk, folder, [...waiting.values()]);
    // It may have replaced a damaged pack of that name, which the reader has open.
    reader?.close();
    known().add(name, readPackList(folder, name));
    written.push(name);
    for (const id of waiting.keys()) known().note(id, USED);
    waiting.clear();
    waitingBytes = 0;
  }

  return {
    add,
    cut(content) {
      const chunks: ChunkRef[] = [];
      const whole = createChunkCutter(false, (chunk) => chunks.push(add(chunk)));
      whole.push(content);
      whole.end();
      return chunks;
    },
    push(bytes, isDatabase) {
      cutter ??= createChunkCutter(isDatabase, (chunk) => cut.push(add(chunk)));
      cutter.push(bytes);
    },
    end() {
      cutter?.end();
      cutter = null;
      const chunks = cut;
      cut = [];
      return chunks;
    },
    finish() {
      writeWaiting();
      if (written.length > 0) disk.syncFolder(folder);
      let bytes = 0;
      for (const name of written) {
        for (const chunk of chunksIn(readPackList(folder, name))) {
          reading().read(chunk);
          bytes += chunk.stored;
        }
      }
      return bytes;
    },
    check(manifest, isThorough) {
      const lacking = new Set<string>();
      known().forget(SEEN);
      for (const chunk of chunksOf(manifest, { read: (list) => reading().read(list) })) {
        if (known().has(chunk.id, SEEN)) continue;
        known().note(chunk.id, SEEN);
        const place = known().find(chunk.id);
        if (place === null || place.length !== chunk.length) lacking.add(chunk.id);
        // In a damaged pack, most chunks are still whole.
        else if (isThorough) reading().read(chunk);
        else if (place.isSuspect) lacking.add(chunk.id);
      }
      return lacking.size;
    },
    read(chunks) {
      const bytes = Buffer.allocUnsafeSlow(chunks.reduce((sum, { length }) => sum + length, 0));
      let at = 0;
      for (const chunk of chunks) at += reading().read(chunk).copy(bytes, at);
      return bytes;
    },
    writeFiles(files, sync) {
      for (const file of files) writeFile(file, (chunk) => reading().read(chunk), sync);
    },
    prune(manifests, mayRewrite) {
      if (namesIn(folder).length === 0) return [];
      prepare();
      const damaged = prune(folder, manifests, { disk, packBytes, mayRewrite });
      index = null;
      reader?.close();
      reader = null;
      return damaged;
    },
    usedPacks() {
      return [...known().packs.values()].flatMap((pack) => {
        let usedBytes = 0;
        let isUsed = false;
        for (const { stored } of notedIn(pack, USED)) {
          usedBytes += stored;
          isUsed = true;
        }
        return isUsed ? [{ name: pack.name, chunks: pack.list.count, usedBytes }] : [];
      });
    },
    close() {
      reader?.close();
      reader = null;
    },
  };
}

/** As it is stored: compressed, if that saves something. A copy, because `chunk` is a part of a larger buffer. */
function packed(chunk: Uint8Array): Uint8Array {
  if (chunk.length > 4 * PROBED_BYTES) {
    const middle = chunk.length >> 1;
    const probe = chunk.subarray(middle, middle + PROBED_BYTES);
    if (compressed(probe).length > WORTH * probe.length) return Buffer.from(chunk);
  }
  const small = compressed(chunk);
  return Buffer.from(small.length <= WORTH * chunk.length ? small : chunk);
}

function compressed(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, {
    pledgedSrcSize: bytes.length,
    chunkSize: Math.max(LEAST_OUTPUT, bytes.length),
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
  });
}
