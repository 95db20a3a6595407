import { createReadStream, type Stats } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { syncFolder } from '../../../lib/durable-file.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import {
  asUnchanged,
  LostBackupError,
  PermanentHostError,
  RefusedRestoreError,
} from '../../contract/errors.ts';
import { type InstallLimits, requireBackupAllowed } from '../../contract/install-limits.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import { backupTimeMs, withinBackupTime } from '../../policy/backup-time.ts';
import type { ContentsWriter, IndexedEntry } from '../../websites/backup-contents/contents-file.ts';
import { exchangeFolders, exchangeFoldersOf, recoverExchange, removeTree } from './archive-exchange.ts';
import { extractArchive, extractItems } from './archive-extract.ts';
import { DamagedArchiveError, type ManifestTotals } from './archive-manifest.ts';
import { type ArchiveIdentity, verifyArchive } from './archive-read.ts';
import type { WebsiteAtRest } from './archive-source.ts';
import { isGone } from './archive-tree.ts';
import { type ArchiveFiles, checksum, type WriteOptions, writeArchive } from './archive-write.ts';
import { measureFiles } from './measure-files.ts';
import { extractArchivedFile, type IndexOptions, indexArchive } from './snapshot-contents.ts';

/**
 * Snapshots of websites: `<folder>/<install id>/<backup id>.tar.zst`, an archive that tar and zstd read, and beside it
 * `<backup id>.manifest.jsonl` (archive-manifest.ts). A snapshot exists if its archive does, because the archive is put
 * into place last.
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
  complete?: (folder: string, present: string) => Promise<void>;
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

  function archivesOf(installId: string): string {
    return join(folder, canonicalId(installId));
  }

  function placesOf(install: InstallRef, backupId: string): ArchiveFiles {
    return inFolder(archivesOf(install.id), canonicalId(backupId));
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
    const places = placesOf(install, backupId);
    const identity = { installId: install.id, backupId };
    await recover(install.id);
    await requireFolder(filesOf(install.id), install);
    const existing = await verifyIfThere(places, identity, signal);
    if (existing !== null) return summary(existing);
    const usage = await measureFiles(filesOf(install.id), limits, signal);
    requireBackupAllowed(usage, limits);
    const verified = await withinBackupTime(backupTimeMs(usage.bytes), signal, (limited) =>
      make(install, backupId, places, {
        signal: limited,
        report: (done) => report?.(Math.min(done, usage.bytes), usage.bytes),
        atRest,
        leftOut,
      }),
    );
    return summary(verified);
  }

  /** Makes a missing snapshot. */
  async function make(
    install: InstallRef,
    backupId: string,
    places: ArchiveFiles,
    options: WriteOptions & { signal: AbortSignal },
  ): Promise<ManifestTotals> {
    const { signal } = options;
    const identity = { installId: install.id, backupId };

    const archives = dirname(places.archive);
    await mkdir(archives, { recursive: true, mode: 0o700 });
    await removeHalfMade(archives, backupId);
    // Under a unique name, so that a second run of the same job cannot write into these files.
    const workshop = await mkdtemp(join(archives, `.${backupId}.`));
    try {
      const made = inFolder(workshop, backupId);
      await writeArchive(
        filesOf(install.id),
        made,
        {
          format: 'homeport-snapshot',
          version: 1,
          install_id: install.id,
          install_name: install.name,
          backup_id: backupId,
          created_at: timestamp(clock),
        },
        clock,
        options,
      );
      const verified = await verifyWritten(made, identity, install, signal);
      signal.throwIfAborted();
      await rename(made.manifest, places.manifest);
      await syncFolder(archives);
      await rename(made.archive, places.archive);
      await syncFolder(archives);
      return verified;
    } finally {
      await removeTree(workshop);
    }
  }

  async function restore(
    install: InstallRef,
    backupId: string,
    { from = install, signal, report, complete }: SnapshotRestoreOptions,
  ): Promise<Snapshot> {
    const places = placesOf(from, backupId);
    const identity = { installId: from.id, backupId };
    const folders = exchangeFoldersOf(filesOf(install.id));
    let isUntouched = true;
    try {
      await recoverExchange(folders);
      await refuseLink(folders.folder, install);
      await requireArchive(places, from, backupId);
      await verifyArchive(places, identity, signal);
      await mkdir(dirname(folders.folder), { recursive: true });
      const { size: bytes } = await lstat(places.archive);
      const totals = await extractArchive(places, identity, folders.next, signal, (done) =>
        report?.(done, bytes),
      );
      await complete?.(folders.next, folders.folder);
      signal?.throwIfAborted();
      isUntouched = false;
      await exchangeFolders(folders);
      return summary(totals);
    } catch (error) {
      await recoverExchange(folders);
      const explained = explainDamage(error, from, backupId, " The website's files were not touched.");
      if (!isUntouched) throw explained;
      throw asUnchanged(explained, install.id === from.id ? undefined : reasonForTarget(error));
    }
  }

  async function restoreChosen(
    install: InstallRef,
    backupId: string,
    { from = install, items, isChosen, summary, signal, report, fill, complete }: ChosenRestoreOptions,
  ): Promise<Snapshot> {
    const places = placesOf(from, backupId);
    const identity = { installId: from.id, backupId };
    const folders = exchangeFoldersOf(filesOf(install.id));
    const chosen = join(folders.next, CHOSEN);
    let isUntouched = true;
    try {
      await recoverExchange(folders);
      await refuseLink(folders.folder, install);
      await requireFolder(folders.folder, install);
      await requireArchive(places, from, backupId);
      await fill(folders.next, folders.folder);
      const { size: bytes } = await lstat(places.archive);
      const reporting = { signal, report: (done: number) => report?.(done, bytes) };
      await extractItems(places, identity, chosen, { items, isChosen }, reporting);
      await complete(folders.next, folders.folder, chosen);
      await removeTree(chosen);
      await syncFolder(folders.next);
      signal?.throwIfAborted();
      isUntouched = false;
      await exchangeFolders(folders);
      return summary;
    } catch (error) {
      await recoverExchange(folders);
      const explained = explainDamage(error, from, backupId, " The website's files were not touched.");
      if (!isUntouched) throw explained;
      throw asUnchanged(explained, install.id === from.id ? undefined : reasonForTarget(error));
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

  /** Runs work with the files of a snapshot, and explains its damage. */
  async function ofArchive<Result>(
    install: InstallRef,
    backupId: string,
    work: (places: ArchiveFiles, identity: ArchiveIdentity) => Promise<Result>,
  ): Promise<Result> {
    const places = placesOf(install, backupId);
    await requireArchive(places, install, backupId);
    try {
      return await work(places, { installId: install.id, backupId });
    } catch (error) {
      throw explainDamage(error, install, backupId);
    }
  }

  async function unpack(
    install: InstallRef,
    backupId: string,
    write: (bytes: Buffer) => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const places = placesOf(install, backupId);
    await requireArchive(places, install, backupId);
    try {
      const { archive_sha256 } = await verifyArchive(places, { installId: install.id, backupId }, signal);
      const input = checksum();
      const tar = createZstdDecompress();
      const read = pipeline(createReadStream(places.archive), input.stream, tar, { signal });
      // Reading its output reports the failure.
      read.catch(() => {});
      for await (const bytes of tar) await write(bytes);
      await read;
      if (input.digest() !== archive_sha256) throw new DamagedArchiveError('its checksum does not match');
    } catch (error) {
      throw explainDamage(error, install, backupId);
    }
  }

  async function discard(install: InstallRef, backupId: string): Promise<void> {
    const places = placesOf(install, backupId);
    const archives = dirname(places.archive);
    await rm(places.archive, { force: true });
    await rm(places.manifest, { force: true });
    await removeHalfMade(archives, backupId);
  }

  async function held(installId: string): Promise<string[]> {
    const names = (await ifThere(readdir(archivesOf(installId)))) ?? [];
    return names.filter((name) => name.endsWith(ARCHIVE)).map((name) => name.slice(0, -ARCHIVE.length));
  }

  async function removeAll(installId: string): Promise<void> {
    await removeTree(archivesOf(installId));
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
      ofArchive(install, backupId, (places, identity) => indexArchive(places, identity, writer, options)),
    extract: (install, backupId, entry, write) =>
      ofArchive(install, backupId, (places, identity) => extractArchivedFile(places, identity, entry, write)),
    unpack: (install, backupId, write, signal) =>
      serially(install.id, () => unpack(install, backupId, write, signal)),
    discard: (install, backupId) => serially(install.id, () => discard(install, backupId)),
    held,
    removeAll: (installId) => serially(installId, () => removeAll(installId)),
    recover: (installId) => serially(installId, () => recover(installId)),
  };
}

/** Ids become file names, so only UUIDs are accepted. */
function canonicalId(id: string): string {
  if (parseUuid(id) !== id) throw new PermanentHostError(`${JSON.stringify(id)} is not a lower-case UUID.`);
  return id;
}

const ARCHIVE = '.tar.zst';

function inFolder(folder: string, backupId: string): ArchiveFiles {
  return {
    archive: join(folder, `${backupId}${ARCHIVE}`),
    manifest: join(folder, `${backupId}.manifest.jsonl`),
  };
}

function summary(totals: ManifestTotals): Snapshot {
  return { bytes: totals.archive_bytes, files: totals.files, sha256: totals.archive_sha256 };
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

async function requireArchive(places: ArchiveFiles, install: InstallRef, backupId: string): Promise<void> {
  if ((await statsOf(places.archive)) === null) {
    throw new LostBackupError(`There is no snapshot ${backupId} of ${install.name} on this host.`);
  }
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

/** The totals of an intact snapshot, otherwise null. */
async function verifyIfThere(
  places: ArchiveFiles,
  identity: { installId: string; backupId: string },
  signal: AbortSignal | undefined,
): Promise<ManifestTotals | null> {
  try {
    return await verifyArchive(places, identity, signal);
  } catch (error) {
    if (isGone(error) || error instanceof DamagedArchiveError) return null;
    throw error;
  }
}

/** Damage right after writing is a fault of disk or memory, so the job is retried. */
async function verifyWritten(
  made: ArchiveFiles,
  identity: { installId: string; backupId: string },
  install: InstallRef,
  signal: AbortSignal | undefined,
): Promise<ManifestTotals> {
  try {
    return await verifyArchive(made, identity, signal);
  } catch (error) {
    if (!(error instanceof DamagedArchiveError)) throw error;
    throw new Error(`The new snapshot of ${install.name} was not read back as written: ${error.message}.`, {
      cause: error,
    });
  }
}

function explainDamage(error: unknown, install: InstallRef, backupId: string, outcome = ''): unknown {
  if (!(error instanceof DamagedArchiveError)) return error;
  return new LostBackupError(
    `The snapshot ${backupId} of ${install.name} is damaged: ${error.message}.${outcome}`,
    { cause: error },
  );
}

/** Why a copy was refused. Users of the target may not see the source, so nothing names it or its files. */
function reasonForTarget(error: unknown): string {
  if (error instanceof LinkedFolderError) return error.message;
  if (error instanceof RefusedRestoreError) return error.shown;
  if (error instanceof DamagedArchiveError)
    return 'The backup that was to be copied is damaged. Make a new one.';
  return 'The backup could not be put in place.';
}

/** Removes leftovers of earlier, interrupted runs for this snapshot. */
async function removeHalfMade(archives: string, backupId: string): Promise<void> {
  const names = await readdir(archives).catch((error: unknown) => {
    if (isGone(error)) return [];
    throw error;
  });
  for (const name of names) {
    if (name.startsWith(`.${backupId}.`)) await removeTree(join(archives, name));
  }
}
