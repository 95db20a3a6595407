import type { Stats } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { syncFolder } from '../../../lib/durable-file.ts';
import {
  asUnchanged,
  LostBackupError,
  PermanentHostError,
  RefusedRestoreError,
} from '../../contract/errors.ts';
import {
  type InstallLimits,
  type InstallUsage,
  requireBackupAllowed,
} from '../../contract/install-limits.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import { backupTimeMs, withinBackupTime } from '../../policy/backup-time.ts';
import type { ContentsWriter, IndexedEntry } from '../../websites/backup-contents/contents-file.ts';
import { exchangeFolders, exchangeFoldersOf, recoverExchange, removeTree } from './archive-exchange.ts';
import type { WebsiteAtRest } from './archive-source.ts';
import { isGone } from './archive-tree.ts';
import { backupFilesOf, canonicalId } from './backup-files.ts';
import { DamagedArchiveError } from './damaged-archive.ts';
import type { HeldBackup } from './held-backup.ts';
import { discardUnused, makeBackup } from './make-backup.ts';
import { measureFiles } from './measure-files.ts';
import type { IndexOptions } from './snapshot-contents.ts';
import { openStore, type Store } from './store/store.ts';

/**
 * Snapshots of websites, in a folder for each install (backup-files.ts). Installs share nothing, so no user learns from the time or the
 * size of a backup what others have. The folder of a deleted install goes with all of its contents.
 *
 * Operations on one install run one after the other within a process; the caller must ensure this between processes.
 */
export interface Snapshots {
  /** See `Host.snapshot`. An existing intact snapshot is kept. `atRest` is used for databases that change all the time. */
  snapshot(
    install: InstallRef,
    backupId: string,
    signal?: AbortSignal,
    report?: ReportProgress,
    atRest?: WebsiteAtRest,
  ): Promise<Snapshot>;
  /** See `Host.restore`. */
  restore(install: InstallRef, backupId: string, options?: SnapshotRestoreOptions): Promise<Snapshot>;
  /** Passes a snapshot to `write` as an uncompressed tar archive, verified before its first and after its last byte. */
  unpack(
    install: InstallRef,
    backupId: string,
    write: (bytes: Buffer) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void>;
  /**
   * Restores chosen items only. `choose` gets the index of the snapshot; it rejects to restore nothing. `fill` fills a new folder with the
   * present website, and `complete` gets that folder and the chosen items in a folder inside of it, which is removed afterwards.
   */
  restoreChosen(install: InstallRef, backupId: string, options: ChosenRestoreOptions): Promise<Snapshot>;
  /** Replaces the website's folder, `present`, by `next`, which `fill` makes. A failure or a kill leaves one of them, whole. */
  replace(install: InstallRef, fill: (next: string, present: string) => Promise<void>): Promise<void>;
  /** Lists a snapshot in an index. Rejects with a LostBackupError. */
  index(
    install: InstallRef,
    backupId: string,
    writer: ContentsWriter,
    options: IndexOptions,
  ): Promise<Snapshot>;
  /** Passes the content of a file of a snapshot to `write`, verified once it resolves. Rejects with a LostBackupError. */
  extract(
    install: InstallRef,
    backupId: string,
    entry: IndexedEntry,
    write: (bytes: Buffer) => Promise<void>,
  ): Promise<void>;
  /** See `Host.discardSnapshot`. */
  discard(install: InstallRef, backupId: string): Promise<void>;
  /** See `Host.heldBackups`. */
  held(installId: string): Promise<string[]>;
  /** Deletes all snapshots of an install, and leftovers of an interrupted restore. */
  removeAll(installId: string): Promise<void>;
  /**
   * Recovers from an interrupted restore, so that the website's folder exists again. Call this before the folder is created or served.
   * Cheap if there is nothing to do.
   */
  recover(installId: string): Promise<void>;
}

interface SnapshotRestoreOptions {
  /** The install that the snapshot was made from, if different. */
  from?: InstallRef;
  signal?: AbortSignal | undefined;
  report?: ReportProgress | undefined;
  /** Completes the restored folder before it replaces the website's, `present`. Rejects to restore nothing. */
  complete?: (folder: string, present: string, restored: Snapshot) => Promise<void>;
}

interface ChosenRestoreOptions {
  from?: InstallRef | undefined;
  /** How many items of the archive are read at most, and which of them are wanted, with the folders above them. */
  items: number;
  isChosen(path: string): boolean;
  /** The totals of the snapshot. */
  summary: Snapshot;
  signal?: AbortSignal | undefined;
  report?: ReportProgress | undefined;
  /** Fills a new folder with the present website. */
  fill(next: string, present: string): Promise<void>;
  /** Puts the chosen items into it. */
  complete(next: string, present: string, chosen: string): Promise<void>;
}

/** In a website that is made from the present one: the chosen items of a snapshot. */
const CHOSEN = '.homeport-restored-5f0c';

export interface SnapshotsOptions {
  /** Folder of the archives, created when needed. */
  folder: string;
  /** The folder that holds an install's files. */
  filesOf(installId: string): string;
  /** No snapshot is made of a website that exceeds them. */
  limits: InstallLimits;
  clock: Clock;
  /** Paths below an install's files that snapshots do not contain. */
  leftOut?: ReadonlySet<string>;
}

export function createSnapshots({ folder, filesOf, limits, clock, leftOut }: SnapshotsOptions): Snapshots {
  const serially = serializeByKey();

  const backupsOf = (installId: string) => backupFilesOf(folder, installId);

  async function requireHeld(install: InstallRef, backupId: string): Promise<HeldBackup> {
    const held = await backupsOf(install.id).held(backupId);
    if (held !== null) return held;
    throw new LostBackupError(`There is no snapshot ${backupId} of ${install.name} on this host.`);
  }

  async function recover(installId: string): Promise<void> {
    await recoverExchange(exchangeFoldersOf(filesOf(canonicalId(installId))));
  }

  async function snapshot(
    install: InstallRef,
    backupId: string,
    signal?: AbortSignal,
    report?: ReportProgress,
    atRest?: WebsiteAtRest,
  ): Promise<Snapshot> {
    const files = backupsOf(install.id);
    await recover(install.id);
    await requireFolder(filesOf(install.id), install);
    const existing = await verifyIfThere(await files.held(backupId), signal);
    if (existing !== null) return existing;
    const store = openStore(files.store);
    try {
      const usage = await measure(filesOf(install.id), store, signal);
      requireBackupAllowed(usage, limits);
      const made = await withinBackupTime(backupTimeMs(usage.bytes), signal, (limited) =>
        makeBackup(filesOf(install.id), install, backupId, files, clock, store, {
          signal: limited,
          report: (done) => report?.(Math.min(done, usage.bytes), usage.bytes),
          atRest,
          leftOut,
        }),
      );
      report?.(usage.bytes, usage.bytes);
      return made;
    } finally {
      await store.close();
    }
  }

  /** Measures in the thread of the store. If something cannot be read, this thread measures, because it names the path. */
  async function measure(website: string, store: Store, signal?: AbortSignal): Promise<InstallUsage> {
    signal?.throwIfAborted();
    const stop = () => void store.close();
    signal?.addEventListener('abort', stop);
    try {
      return (await store.measure(website, limits)) ?? (await measureFiles(website, limits, signal));
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  async function restore(
    install: InstallRef,
    backupId: string,
    { from = install, signal, report, complete }: SnapshotRestoreOptions,
  ): Promise<Snapshot> {
    const folders = exchangeFoldersOf(filesOf(install.id));
    let isUntouched = true;
    try {
      await recoverExchange(folders);
      await refuseLink(folders.folder, install);
      const held = await requireHeld(from, backupId);
      await mkdir(dirname(folders.folder), { recursive: true });
      const restored = await held.extract(folders.next, { signal, report });
      await complete?.(folders.next, folders.folder, restored);
      signal?.throwIfAborted();
      isUntouched = false;
      await exchangeFolders(folders);
      return restored;
    } catch (error) {
      await recoverExchange(folders);
      const explained = await explainDamage(error, from, backupId, " The website's files were not touched.");
      if (!isUntouched) throw explained;
      throw asUnchanged(explained, install.id === from.id ? undefined : reasonForTarget(explained));
    }
  }

  async function restoreChosen(
    install: InstallRef,
    backupId: string,
    { from = install, items, isChosen, summary, signal, report, fill, complete }: ChosenRestoreOptions,
  ): Promise<Snapshot> {
    const folders = exchangeFoldersOf(filesOf(install.id));
    const chosen = join(folders.next, CHOSEN);
    let isUntouched = true;
    try {
      await recoverExchange(folders);
      await refuseLink(folders.folder, install);
      await requireFolder(folders.folder, install);
      const held = await requireHeld(from, backupId);
      await fill(folders.next, folders.folder);
      await held.extractChosen(chosen, { items, isChosen }, { signal, report });
      await complete(folders.next, folders.folder, chosen);
      await removeTree(chosen);
      await syncFolder(folders.next);
      signal?.throwIfAborted();
      isUntouched = false;
      await exchangeFolders(folders);
      return summary;
    } catch (error) {
      await recoverExchange(folders);
      const explained = await explainDamage(error, from, backupId, " The website's files were not touched.");
      if (!isUntouched) throw explained;
      throw asUnchanged(explained, install.id === from.id ? undefined : reasonForTarget(explained));
    }
  }

  async function replace(
    install: InstallRef,
    fill: (next: string, present: string) => Promise<void>,
  ): Promise<void> {
    const folders = exchangeFoldersOf(filesOf(install.id));
    try {
      await recoverExchange(folders);
      await refuseLink(folders.folder, install);
      await requireFolder(folders.folder, install);
      await fill(folders.next, folders.folder);
      await exchangeFolders(folders);
    } catch (error) {
      await recoverExchange(folders);
      throw error;
    }
  }

  /** The failure of reading a damaged snapshot, for users. One that was deleted meanwhile is not damaged. */
  async function explainDamage(
    error: unknown,
    { id, name }: InstallRef,
    backupId: string,
    outcome = '',
  ): Promise<unknown> {
    if (!(error instanceof DamagedArchiveError)) return error;
    const snapshot = `The snapshot ${backupId} of ${name}`;
    if ((await backupsOf(id).held(backupId)) === null) {
      return new DeletedBackupError(`${snapshot} was deleted while it was read.${outcome}`, { cause: error });
    }
    return new LostBackupError(`${snapshot} is damaged: ${error.message}.${outcome}`, { cause: error });
  }

  /** Runs work with a snapshot, and explains its damage. */
  async function ofHeld<Result>(
    install: InstallRef,
    backupId: string,
    work: (held: HeldBackup) => Promise<Result>,
  ): Promise<Result> {
    const held = await requireHeld(install, backupId);
    try {
      return await work(held);
    } catch (error) {
      throw await explainDamage(error, install, backupId);
    }
  }

  async function discard(install: InstallRef, backupId: string): Promise<void> {
    const files = backupsOf(install.id);
    if (await files.remove(backupId)) await discardUnused(files, true);
  }

  async function removeAll(installId: string): Promise<void> {
    await removeTree(backupsOf(installId).folder);
    const { next, old, stray } = exchangeFoldersOf(filesOf(canonicalId(installId)));
    for (const left of [next, old, stray]) await removeTree(left);
  }

  return {
    snapshot: (install, ...parameters) => serially(install.id, () => snapshot(install, ...parameters)),
    restore: (install, backupId, options = {}) =>
      serially(install.id, () => restore(install, backupId, options)),
    restoreChosen: (install, backupId, options) =>
      serially(install.id, () => restoreChosen(install, backupId, options)),
    replace: (install, fill) => serially(install.id, () => replace(install, fill)),
    index: (install, backupId, writer, options) =>
      ofHeld(install, backupId, (held) => held.index(writer, options)),
    extract: (install, backupId, entry, write) =>
      ofHeld(install, backupId, (held) => held.extractFile(entry, write)),
    unpack: (install, backupId, write, signal) =>
      serially(install.id, () => ofHeld(install, backupId, (held) => held.unpack(write, signal))),
    discard: (install, backupId) => serially(install.id, () => discard(install, backupId)),
    held: (installId) => backupsOf(installId).ids(),
    removeAll: (installId) => serially(installId, () => removeAll(installId)),
    recover: (installId) => serially(installId, () => recover(installId)),
  };
}

async function statsOf(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

async function requireFolder(files: string, install: InstallRef): Promise<void> {
  if ((await statsOf(files)) === null) {
    throw new PermanentHostError(`The install ${install.name} has no files on this host.`);
  }
}

/** Another job has deleted the snapshot that was being read. */
class DeletedBackupError extends LostBackupError {
  override name = 'DeletedBackupError';
}

class LinkedFolderError extends PermanentHostError {
  override name = 'LinkedFolderError';
}

/** A link could be replaced, but its target files would stay where they are. */
async function refuseLink(files: string, install: InstallRef): Promise<void> {
  const stats = await statsOf(files);
  if (stats !== null && !stats.isDirectory()) {
    throw new LinkedFolderError(
      `The files of the install ${install.name} are not in a folder but behind a link; nothing was restored.`,
    );
  }
}

/** An intact snapshot, otherwise null. */
async function verifyIfThere(
  held: HeldBackup | null,
  signal: AbortSignal | undefined,
): Promise<Snapshot | null> {
  if (held === null) return null;
  try {
    return await held.verify(signal);
  } catch (error) {
    if (isGone(error) || error instanceof DamagedArchiveError) return null;
    throw error;
  }
}

/** Why a copy was refused. Users of the target may not see the source, so nothing names it or its files. */
function reasonForTarget(error: unknown): string {
  if (error instanceof LinkedFolderError) return error.message;
  if (error instanceof RefusedRestoreError) return error.shown;
  if (error instanceof DeletedBackupError) return 'The backup that was to be copied was deleted meanwhile.';
  if (error instanceof LostBackupError && error.cause instanceof DamagedArchiveError)
    return 'The backup that was to be copied is damaged. Make a new one.';
  return 'The backup could not be put in place.';
}
