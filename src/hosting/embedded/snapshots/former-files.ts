import { nameBytes } from '../../websites/backup-contents/archive-names.ts';
import { isStored, openStoredManifest, readManifestEnd, type StoredFile } from './stored-manifest.ts';

/** The files of an earlier backup, so that a new one need not read those that are as they were. */
export interface FormerFiles {
  /** The file of a path. Paths must come in the order of archive-tree.ts, which is that of the manifest. */
  find(path: Buffer): Promise<StoredFile | null>;
  close(): Promise<void>;
}

/** Checks the whole manifest first. Errors: DamagedArchiveError. */
export async function openFormerFiles(manifest: string): Promise<FormerFiles> {
  await readManifestEnd(manifest);
  const reader = await openStoredManifest(manifest);
  let next: { key: string; entry: StoredFile } | null = null;
  let isOver = false;

  async function advance(): Promise<void> {
    next = null;
    while (!isOver) {
      const record = await reader.next();
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
    close: () => reader.close(),
  };
}

/** Keys are ordered as the walk orders paths: name by name, so that what is in a folder follows it directly. */
const keyOf = (path: Buffer): string => path.toString('latin1').replaceAll('/', '\0');
