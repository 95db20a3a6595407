import { mkdir, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import { backupFilesOf } from './backup-files.ts';
import { openStore } from './store/store.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const MANIFEST = new RegExp(`^${UUID}\\.backup\\.jsonl$`);
/** Of earlier versions. */
const ARCHIVE = new RegExp(`^${UUID}\\.(tar\\.zst|manifest\\.jsonl)$`);

export interface CapturedBackups {
  /** Their files, relative to the folder of all backups. */
  paths: string[];
  /** How many of them are damaged. */
  damaged: number;
}

/**
 * Captures the backups of an install, as of one moment, in the folder `to`, which gets the layout of `folder`. Both share the disk space.
 * Any process may make and delete backups meanwhile: see store/capture.ts.
 */
export async function captureBackups(
  folder: string,
  installId: string,
  to: string,
  signal?: AbortSignal,
): Promise<CapturedBackups> {
  const from = backupFilesOf(folder, installId);
  const copy = backupFilesOf(to, installId);
  const names = (await ifThere(readdir(from.folder))) ?? [];
  const matching = (pattern: RegExp) =>
    names.filter((name) => pattern.test(name)).map((name) => join(from.folder, name));
  const [manifests, others] = [matching(MANIFEST), matching(ARCHIVE)];
  if (manifests.length + others.length === 0) return { paths: [], damaged: 0 };
  await mkdir(copy.folder, { recursive: true, mode: 0o700 });
  const store = openStore(from.store);
  const stop = () => void store.close();
  signal?.addEventListener('abort', stop);
  try {
    signal?.throwIfAborted();
    const damaged = await store.capture({ manifests, others, to: copy.folder, packs: copy.store });
    const found = await readdir(copy.folder, { recursive: true, withFileTypes: true });
    const paths = found
      .filter((entry) => entry.isFile())
      .map((entry) => relative(to, join(entry.parentPath, entry.name)));
    return { paths: paths.sort(), damaged };
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
    await store.close();
  }
}
