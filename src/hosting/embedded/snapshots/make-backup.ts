import { mkdir, mkdtemp, rename, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { syncFolder } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import { removeTree } from './archive-exchange.ts';
import { type BackupFiles, backupOfManifest } from './backup-files.ts';
import { DamagedArchiveError } from './damaged-archive.ts';
import { DamagedFormerError, type FormerFiles, openFormerFiles } from './former-files.ts';
import { openStore, type Store } from './store/store.ts';
import { type WriteOptions, writeStored } from './stored-write.ts';

/** Some chunks of the previous backup are gone or damaged, so its files must be read again. */
class LostChunksError extends Error {
  override name = 'LostChunksError';
}

/** Makes a backup that does not exist, of the folder `website`. If it fails, nothing of it is left. `opened`: the store, which is closed. */
export async function makeBackup(
  website: string,
  install: InstallRef,
  backupId: string,
  files: BackupFiles,
  clock: Clock,
  opened: Store,
  options: WriteOptions & { signal: AbortSignal },
): Promise<Snapshot> {
  const { signal } = options;
  await createDurably(files.folder);
  await files.removeHalfMade(backupId);
  // Under a unique name, so that a second run of the same job cannot write into it.
  const workshop = await mkdtemp(join(files.folder, `.${backupId}.`));
  const draft = join(workshop, basename(files.manifestOf(backupId)));
  const header = {
    format: 'homeport-snapshot' as const,
    install_id: install.id,
    install_name: install.name,
    backup_id: backupId,
    created_at: timestamp(clock),
  };

  /** `latest`: the manifest of a former backup. */
  async function write(latest: string | null, store: Store): Promise<Snapshot> {
    let former: FormerFiles | null = null;
    const stop = () => void store.close();
    signal.addEventListener('abort', stop);
    try {
      signal.throwIfAborted();
      if (latest !== null) former = await openFormerFiles(latest, store);
      const made = await writeStored(website, draft, header, clock, {
        ...options,
        store,
        former,
        withState: true,
      });
      await requireChunks(store, draft);
      return made;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      await store.close();
      await former?.close();
    }
  }

  /** With the latest former backup that can be used, or without one. */
  async function writeAfter([latest, ...earlier]: string[], store: Store): Promise<Snapshot> {
    if (latest === undefined) return write(null, store);
    try {
      return await write(latest, store);
    } catch (error) {
      if (!(error instanceof DamagedFormerError || error instanceof LostChunksError)) throw error;
      await removeTree(draft);
      return writeAfter(error instanceof DamagedFormerError ? earlier : [], openStore(files.store));
    }
  }

  try {
    const made = await writeAfter(await latestFirst(await files.manifests()), opened);
    signal.throwIfAborted();
    await rename(draft, files.manifestOf(backupId));
    await syncFolder(files.folder);
    await files.removeArchive(backupId);
    // The backup has stored again what damaged packs lack. It is complete, whether or not they can be deleted.
    if ((await files.marks()).length > 0) await discardUnused(files, true).catch(() => {});
    return made;
  } catch (error) {
    await removeTree(workshop);
    // If that fails as well, the first failure says more, and the next discarded backup takes the rest with it.
    await discardUnused(files, false).catch(() => {});
    throw explainWritten(error, install);
  } finally {
    await removeTree(workshop);
  }
}

async function latestFirst(manifests: readonly string[]): Promise<string[]> {
  const made = await Promise.all(
    manifests.map(async (file) => ({ file, madeMs: (await stat(file)).mtimeMs })),
  );
  return made.sort((a, b) => b.madeMs - a.madeMs).map(({ file }) => file);
}

/** The manifest is read back, and the store must have all of its chunks. */
async function requireChunks(store: Store, manifest: string): Promise<void> {
  const missing = await store.check(manifest, false);
  if (missing > 0) throw new LostChunksError(`the store lacks ${missing} chunks of a new backup`);
}

/**
 * Deletes the chunks that no backup uses. `mayRewrite`: also those in packs that are used in part. A damaged backup does not say which
 * chunks it needs, so then all are kept, and the backup is noted for the operator.
 */
export async function discardUnused(files: BackupFiles, mayRewrite: boolean): Promise<void> {
  const store = openStore(files.store);
  try {
    const damaged = await store.prune(await files.manifests(), mayRewrite);
    await files.noteDamaged(
      damaged.map(({ manifest, reason }) => ({ id: backupOfManifest(basename(manifest)), reason })),
    );
  } catch (error) {
    if (!(error instanceof DamagedArchiveError)) throw error;
  } finally {
    await store.close();
  }
  await rmdir(files.store).catch((error: unknown) => {
    if (!hasCode(error, 'ENOTEMPTY', 'ENOENT', 'EEXIST')) throw error;
  });
}

async function createDurably(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncFolder(dirname(folder));
}

/** Damage right after writing is a fault of disk or memory, so the job is retried. */
function explainWritten(error: unknown, install: InstallRef): unknown {
  if (!(error instanceof DamagedArchiveError) && !(error instanceof LostChunksError)) return error;
  return new Error(`The new snapshot of ${install.name} was not read back as written: ${error.message}.`, {
    cause: error,
  });
}
