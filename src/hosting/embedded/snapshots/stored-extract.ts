import { type FileSink, secondsOf } from './archive-extract.ts';
import { dataBytes, partsOf } from './sparse-file.ts';
import type { Store } from './store/store.ts';
import type { FileToWrite } from './store/written-files.ts';
import type { StoredEntry } from './stored-manifest.ts';

/** Files that are passed to the store together, and how many such batches it has not finished yet. */
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCH_FILES = 500;
const BATCHES_AHEAD = 2;

/** Whether the thread of the store writes a file on its own. Larger ones are passed on in pieces, with their progress. */
export const isWrittenByStore = (entry: StoredEntry): boolean =>
  entry.type === 'file' && dataBytes(partsOf(entry)) <= BATCH_BYTES;

/** Lets the thread of a store write files, in batches. `report` gets the bytes of each batch. */
export function storeFileSink(store: Store, report: (bytes: number) => void): FileSink {
  let waiting: FileToWrite[] = [];
  let waitingBytes = 0;
  const writing: Promise<void>[] = [];

  async function write(files: FileToWrite[], bytes: number, sync: boolean): Promise<void> {
    await store.writeFiles(files, sync);
    report(bytes);
  }

  async function flush(sync: boolean): Promise<void> {
    if (waiting.length === 0) return;
    const batch = write(waiting, waitingBytes, sync);
    // Its turn reports the failure. Until then it must not count as unhandled.
    batch.catch(() => {});
    writing.push(batch);
    waiting = [];
    waitingBytes = 0;
    if (writing.length > BATCHES_AHEAD) await writing.shift();
  }

  let isSynced = false;
  return {
    async take(path, entry, sync) {
      if (!('chunks' in entry) || !isWrittenByStore(entry)) return false;
      isSynced = sync;
      const parts = partsOf(entry);
      const { chunks, size, mode } = entry;
      waiting.push({ path, chunks, size, parts, mode, modifiedSeconds: secondsOf(entry) });
      waitingBytes += dataBytes(parts);
      if (waitingBytes >= BATCH_BYTES || waiting.length >= BATCH_FILES) await flush(sync);
      return true;
    },
    async finish() {
      await flush(isSynced);
      await Promise.all(writing);
    },
  };
}
