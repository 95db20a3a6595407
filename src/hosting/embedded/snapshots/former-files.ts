import { nameBytes } from '../../websites/backup-contents/archive-names.ts';
import { DamagedArchiveError } from './damaged-archive.ts';
import type { Store } from './store/store.ts';
import { isStored, openStoredManifest, type StoredFile } from './stored-manifest.ts';

/** The files of an earlier backup, so that a new one need not read those that are as they were. */
export interface FormerFiles {
  /** The file of a path. Paths must come in the order of archive-tree.ts, which is that of the manifest. */
  find(path: Buffer): Promise<StoredFile | null>;
  /** Reads the rest. Its checksum proves what was found. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** The manifest of the earlier backup is damaged, so nothing that was found in it counts. */
export class DamagedFormerError extends Error {
  override name = 'DamagedFormerError';
}

/** Errors of all operations: {@link DamagedFormerError}. */
export async function openFormerFiles(manifest: string, store: Pick<Store, 'read'>): Promise<FormerFiles> {
  const reader = await explained(openStoredManifest(manifest, store));
  let next: { key: string; entry: StoredFile } | null = null;
  let isOver = false;

  async function advance(): Promise<void> {
    next = null;
    while (!isOver) {
      const record = await explained(reader.next());
      if (!isStored(record)) isOver = true;
      else if (record.type === 'file' && record.state !== undefined && record.superseded !== true) {
        next = { key: keyOf(nameBytes(record.path, record.path_base64)), entry: record };
        return;
      }
    }
  }

  return {
    async find(path) {
      const key = keyOf(path);
      if (next === null) await advance();
      while (next !== null && next.key < key) await advance();
      return next !== null && next.key === key ? next.entry : null;
    },
    async finish() {
      while (!isOver) await advance();
    },
    close: () => reader.close(),
  };
}

async function explained<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof DamagedArchiveError)) throw error;
    throw new DamagedFormerError(error.message, { cause: error });
  }
}

/** Keys are ordered as the walk orders paths: name by name, so that what is in a folder follows it directly. */
const keyOf = (path: Buffer): string => path.toString('latin1').replaceAll('/', '\0');
