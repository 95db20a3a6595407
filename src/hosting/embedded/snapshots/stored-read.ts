import { quoted } from '../../websites/backup-contents/archive-names.ts';
import type { ArchivedItem, ArchiveIdentity } from './archive-read.ts';
import { isGone } from './archive-tree.ts';
import { DamagedArchiveError } from './damaged-archive.ts';
import { relativePath } from './entry-path.ts';
import { areInside, dataBytes, partsOf } from './sparse-file.ts';
import { type ChunkRef, listedChunks } from './store/chunk-list.ts';
import type { Store } from './store/store.ts';
import {
  isStored,
  type ManifestEnd,
  openStoredManifest,
  type StoredEntry,
  type StoredHeader,
  type StoredManifestReader,
} from './stored-manifest.ts';

/** Chunks that are asked of the store together, and how many such batches are asked ahead. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_STEPS = 1000;
const BATCHES_AHEAD = 3;

export interface StoredReadOptions {
  store: Store;
  /** Entries whose content is read. Of the others, `content` is empty. Default: all. */
  isWanted?: (entry: StoredEntry, place: number) => boolean;
  /** How many entries are read. Default: all. */
  items?: number;
  signal?: AbortSignal | undefined;
  /** Gets the bytes of content that were read. */
  report?: ((done: number) => void) | undefined;
}

/** Opens the manifest of a backup. Errors: {@link DamagedArchiveError}. */
export async function openManifestOf(
  file: string,
  identity: ArchiveIdentity,
  store: Pick<Store, 'read'>,
): Promise<StoredManifestReader> {
  const manifest = await openStoredManifest(file, store).catch((error: unknown) => {
    throw isGone(error) ? new DamagedArchiveError('its manifest is missing') : error;
  });
  try {
    requireIdentity(manifest.header, identity);
  } catch (error) {
    await manifest.close();
    throw error;
  }
  return manifest;
}

/** Throws a {@link DamagedArchiveError} if the header is that of another backup. */
export function requireIdentity(header: StoredHeader, { installId, backupId }: ArchiveIdentity): void {
  if (header.install_id === installId && header.backup_id === backupId) return;
  throw new DamagedArchiveError('its manifest is that of another snapshot');
}

/**
 * Reads a backup from its manifest and its store, and checks everything: no entry outside the folder, each chunk by its SHA-256, each
 * file's size, and the checksum of the manifest, which covers all of that. The whole is verified once the promise resolves. Errors:
 * {@link DamagedArchiveError}, and any error of `visit`.
 *
 * @param visit called with one item after the other; it reads the content of a file to its end
 * @returns the end of the manifest; null if `items` are read first
 */
export async function readStored(
  file: string,
  identity: ArchiveIdentity,
  visit: (item: ArchivedItem) => Promise<void>,
  options: StoredReadOptions,
): Promise<ManifestEnd | null> {
  const { signal, report } = options;
  const manifest = await openManifestOf(file, identity, options.store);
  const steps = inBatches(stepsOf(manifest, options), options.store, signal);
  try {
    const folders = new Set<string>();
    let done = 0;
    for (let step = await steps.next(); !step.done; step = await steps.next()) {
      const { value } = step;
      if ('end' in value) return value.end;
      if (!('entry' in value)) throw new Error('a chunk of a file was not read');
      const { entry, chunks } = value;
      const path = relativePath(entry, folders);
      let rest = chunks;
      async function* content(): AsyncGenerator<Buffer> {
        while (rest > 0) {
          const next = await steps.next();
          if (next.done || !('bytes' in next.value)) throw new Error('a chunk of a file is not there');
          rest -= 1;
          done += next.value.bytes.length;
          report?.(done);
          yield next.value.bytes;
        }
      }
      await visit({ entry, path, content: content() });
      for await (const _rest of content());
    }
    return null;
  } finally {
    await steps.return(undefined);
    await manifest.close();
  }
}

/** An entry with the number of its chunks, which follow, or the end. */
type Step = { entry: StoredEntry; chunks: number } | { chunk: ChunkRef } | { end: ManifestEnd };
type ReadStep = Exclude<Step, { chunk: ChunkRef }> | { bytes: Buffer };

async function* stepsOf(
  manifest: StoredManifestReader,
  { isWanted = () => true, items = Number.POSITIVE_INFINITY }: StoredReadOptions,
): AsyncGenerator<Step> {
  for (let place = 0; place < items; place++) {
    const entry = await manifest.next();
    if (!isStored(entry)) {
      yield { end: entry };
      return;
    }
    const chunks = isWanted(entry, place) ? chunksOf(entry) : [];
    yield { entry, chunks: chunks.length };
    for (const chunk of chunks) yield { chunk };
  }
}

function chunksOf(entry: StoredEntry): ChunkRef[] {
  if (entry.type !== 'file' || entry.superseded) return [];
  const parts = partsOf(entry);
  const chunks = listedChunks(entry.chunks);
  const bytes = chunks?.reduce((sum, { length }) => sum + length, 0);
  if (chunks === null || !areInside(parts, entry.size) || bytes !== dataBytes(parts)) {
    throw new DamagedArchiveError(`the size of ${quoted(Buffer.from(entry.path))} differs from its manifest`);
  }
  return chunks;
}

/** Replaces chunks by their contents, which are asked for ahead. */
async function* inBatches(
  steps: AsyncGenerator<Step>,
  store: Store,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReadStep, void, undefined> {
  const asked: Promise<ReadStep[]>[] = [];
  let isOver = false;
  for (;;) {
    while (!isOver && asked.length < BATCHES_AHEAD) {
      signal?.throwIfAborted();
      const batch = await nextBatch(steps);
      isOver = batch.isLast;
      const reading = read(batch.steps, store);
      // Its turn reports the failure. Until then it must not count as unhandled.
      reading.catch(() => {});
      asked.push(reading);
    }
    const next = asked.shift();
    if (next === undefined) return;
    yield* await next;
    signal?.throwIfAborted();
  }
}

async function nextBatch(steps: AsyncGenerator<Step>): Promise<{ steps: Step[]; isLast: boolean }> {
  const batch: Step[] = [];
  for (let bytes = 0; bytes < BATCH_BYTES && batch.length < BATCH_STEPS; ) {
    const step = await steps.next();
    if (step.done) return { steps: batch, isLast: true };
    batch.push(step.value);
    if ('chunk' in step.value) bytes += step.value.chunk.length;
  }
  return { steps: batch, isLast: false };
}

async function read(steps: readonly Step[], store: Store): Promise<ReadStep[]> {
  const chunks = steps.flatMap((step) => ('chunk' in step ? [step.chunk] : []));
  const contents = chunks.length === 0 ? Buffer.alloc(0) : await store.read(chunks);
  let at = 0;
  return steps.map((step) => {
    if (!('chunk' in step)) return step;
    at += step.chunk.length;
    return { bytes: contents.subarray(at - step.chunk.length, at) };
  });
}
