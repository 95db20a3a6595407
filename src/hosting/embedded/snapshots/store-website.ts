import type { Clock } from '../../../lib/clock.ts';
import type { UsedPack } from './store/chunk-store.ts';
import { openStore } from './store/store.ts';
import type { StoredHeader } from './stored-manifest.ts';
import { type WriteOptions, writeStored } from './stored-write.ts';

export interface WebsiteStore {
  /** A new file. */
  manifest: string;
  /** The folder of the packs. It may have lists of packs that are elsewhere (store/pack-file.ts). */
  packs: string;
}

/** Writes the chunks of a folder into packs beside its manifest. Returns the packs that it needs, new ones and others. */
export async function storeWebsite(
  folder: string,
  { manifest, packs }: WebsiteStore,
  header: Omit<StoredHeader, 'version'>,
  clock: Clock,
  options: WriteOptions,
): Promise<UsedPack[]> {
  const { signal } = options;
  signal?.throwIfAborted();
  const store = openStore(packs);
  const stop = () => void store.close();
  signal?.addEventListener('abort', stop);
  try {
    await writeStored(folder, manifest, header, clock, { ...options, store, former: null, withState: false });
    return await store.usedPacks();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
    await store.close();
  }
}
