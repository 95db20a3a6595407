import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import tar from 'tar-stream';
import type { Snapshot } from '../../contract/snapshots.ts';
import { extract, extractChosen } from './archive-extract.ts';
import { headerOf } from './archive-file.ts';
import type { ArchivedItem, ArchiveIdentity } from './archive-read.ts';
import { isGone } from './archive-tree.ts';
import { DamagedArchiveError } from './damaged-archive.ts';
import type { HeldBackup } from './held-backup.ts';
import { addToIndex, extractIndexed } from './snapshot-contents.ts';
import { partsOf, sparseForm } from './sparse-file.ts';
import { openStore, type Store } from './store/store.ts';
import { isWrittenByStore, storeFileSink } from './stored-extract.ts';
import { isStored, type ManifestEnd, readManifestEnds } from './stored-manifest.ts';
import { openManifestOf, readStored, requireIdentity, type StoredReadOptions } from './stored-read.ts';

/** A backup whose contents are in the chunks of a store. `folder`: of the store. */
export function storedBackup(manifest: string, folder: string, identity: ArchiveIdentity): HeldBackup {
  /** Runs work with the store. An aborted signal ends its thread at once. */
  async function withStore<Result>(
    work: (store: Store) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    signal?.throwIfAborted();
    const store = openStore(folder);
    const stop = () => void store.close();
    signal?.addEventListener('abort', stop);
    try {
      return await work(store);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      await store.close();
    }
  }

  async function totals(): Promise<ManifestEnd> {
    const { header, ...end } = await readManifestEnds(manifest).catch((error: unknown) => {
      throw isGone(error) ? new DamagedArchiveError('its manifest is missing') : error;
    });
    requireIdentity(header, identity);
    return end;
  }

  const readAll = async (
    visit: (item: ArchivedItem) => Promise<void>,
    options: StoredReadOptions,
  ): Promise<ManifestEnd> => {
    const end = await readStored(manifest, identity, visit, options);
    if (end === null) throw new Error('a backup was not read to its end');
    return end;
  };

  async function verify(signal?: AbortSignal): Promise<Snapshot> {
    const end = await totals();
    const missing = await withStore((store) => store.check(manifest, true), signal);
    if (missing > 0) throw new DamagedArchiveError(`its store lacks ${missing} of its chunks`);
    return summary(end);
  }

  return {
    verify,

    async extract(to, { signal, report }) {
      const { bytes } = (await totals()).totals;
      let passed = 0;
      let written = 0;
      const note = () => report?.(passed + written, bytes);
      const reading: Omit<StoredReadOptions, 'store'> = {
        signal,
        isWanted: (entry) => !isWrittenByStore(entry),
        report(done) {
          passed = done;
          note();
        },
      };
      const end = await withStore((store) => {
        const sink = storeFileSink(store, (done) => {
          written += done;
          note();
        });
        return extract(to, true, (visit) => readAll(visit, { store, ...reading }), sink);
      }, signal);
      return summary(end);
    },

    async extractChosen(to, chosen, { signal, report }) {
      const { bytes } = (await totals()).totals;
      const isWanted: StoredReadOptions['isWanted'] = ({ path }) => chosen.isChosen(path);
      const reading = {
        signal,
        isWanted,
        items: chosen.items,
        report: (done: number) => report?.(done, bytes),
      };
      await withStore(
        (store) =>
          extractChosen(to, chosen, (visit) => readStored(manifest, identity, visit, { store, ...reading })),
        signal,
      );
    },

    async unpack(write, signal) {
      await verify(signal);
      await withStore(async (store) => {
        const pack = tar.pack();
        const packed = packItems(pack, (visit) => readAll(visit, { store, signal }));
        // Reading its output reports the failure.
        packed.catch((error: unknown) =>
          pack.destroy(error instanceof Error ? error : new Error(String(error))),
        );
        for await (const bytes of pack) await write(asBytes(bytes));
        await packed;
      }, signal);
    },

    index: (writer, { isHidden, signal }) =>
      withStore(async (store) => {
        const opened = await openManifestOf(manifest, identity, store);
        try {
          for (let place = 0; ; place += 1) {
            signal?.throwIfAborted();
            const record = await opened.next();
            if (!isStored(record)) return summary(record);
            addToIndex(writer, record, place, isHidden);
          }
        } finally {
          await opened.close();
        }
      }, signal),

    extractFile: (entry, write) =>
      withStore((store) =>
        extractIndexed(entry, write, (visit) =>
          readStored(manifest, identity, visit, {
            store,
            items: entry.place + 1,
            isWanted: (_entry, place) => place === entry.place,
          }),
        ),
      ),
  };
}

function summary({ totals, sha256 }: ManifestEnd): Snapshot {
  return { bytes: totals.bytes, files: totals.files, sha256 };
}

/** Writes items as a tar archive, in the form of backups of earlier versions. */
async function packItems(
  pack: tar.Pack,
  readItems: (visit: (item: ArchivedItem) => Promise<void>) => Promise<unknown>,
): Promise<void> {
  await readItems(async ({ entry, content }) => {
    if (entry.type === 'directory') {
      pack.entry({ ...headerOf(entry), name: `${entry.path}/`, type: 'directory' });
    } else if (entry.type === 'symlink') {
      pack.entry({ ...headerOf(entry), type: 'symlink', linkname: entry.target });
    } else if (!entry.superseded) {
      const sparse = entry.data === undefined ? null : sparseForm(entry.path, entry.size, partsOf(entry));
      const { map, ...form } = sparse ?? { map: Buffer.alloc(0), size: entry.size };
      const sink = pack.entry({ ...headerOf(entry), ...form, type: 'file' });
      if (map.length > 0 && !sink.write(map)) await once(sink, 'drain');
      await pipeline(content, sink);
    }
  });
  pack.finalize();
}

function asBytes(value: unknown): Buffer {
  if (!Buffer.isBuffer(value)) throw new TypeError('the archive gives something else than bytes');
  return value;
}
