import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { type FreeSpace, freeSpace } from '../../../lib/free-space.ts';
import { type Randomness, systemRandomness } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { BackupBrowser } from '../../contract/backup-contents.ts';
import type { BackupPlacesReport, ListedBackups } from '../../contract/backup-places.ts';
import { asUnchanged, LostBackupError, UnchangedWebsiteError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import { REPOSITORY_MARK } from '../../contract/moves.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import type { PointOrder, RecordedPoint } from '../../contract/recovery-points.ts';
import {
  ALL_PARTS,
  type PackedArchive,
  type RestoredParts,
  type RestoreOptions,
  type Snapshot,
} from '../../contract/snapshots.ts';
import { createPackedArchives, type PackedArchives } from '../../policy/packed-archives.ts';
import { createBackupContents } from '../../websites/backup-contents/backup-browser.ts';
import type { Contents } from '../../websites/backup-contents/contents-file.ts';
import { createExtractedFiles } from '../../websites/backup-contents/extracted-files.ts';
import { recordedRestore } from '../../websites/replacement-record.ts';
import type { Databases } from '../daemons/databases.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { ProjectQuotas } from '../isolation/project-quotas.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { tryOrLog } from '../machine/try-or-log.ts';
import type { Websites } from '../wordpress/website.ts';
import { DifferentCopyError } from './align-copy.ts';
import { extractFile } from './archive-parts.ts';
import { readIndexed } from './backup-index.ts';
import { createBackupPlaces } from './backup-places.ts';
import { createStagingFiller, restoredDumpOf } from './fill-staging.ts';
import { backupsIn, forgetFormer } from './forget-former.ts';
import { createBackupMaker, dumpFileOf } from './make-backup.ts';
import { createRepositoryMover, type MoveRepositories } from './move-repositories.ts';
import { createNotedListings, listingsOf } from './noted-listings.ts';
import { createPointRecorder } from './record-points.ts';
import { canonicalId, createRepositories, explainRepository } from './repositories.ts';
import {
  listRepositoryFiles,
  readRepositoryFile,
  trimRepositoryFiles,
  writeRepositoryFile,
} from './repository-files.ts';
import { placeIn, type RepositoryPlace, type RepositoryRoot, repositoryRoot } from './repository-place.ts';
import type { S3Credentials } from './repository-storage.ts';
import type { Restic } from './restic.ts';
import { createRestorer, explainDamage, NOT_IN_PLACE, requireBackup } from './restore.ts';
import { isChosen } from './restore-chosen.ts';
import { readSnapshot } from './snapshot-read.ts';
import { createWebsiteCopies, type WebsiteCopies } from './website-copies.ts';
import { createWebsiteMarks, type WebsiteMarks } from './website-marks.ts';
import { createWebsiteReplacement, type ReplacementStep } from './website-replacement.ts';

/** Backups of websites: files and database in one restic snapshot, in a separate repository for each install. */
export interface Backups extends BackupBrowser {
  /** See `Host.snapshot`. Leaves an existing complete backup as it is. */
  snapshot(
    install: HostedInstall,
    backupId: string,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<Snapshot>;
  /** See `Host.restore`. `from`: the install that the backup is of. The caller renews caches and PHP. */
  restore(
    target: HostedInstall,
    backupId: string,
    options: RestoreOptions & {
      from: InstallRef;
      signal?: AbortSignal | undefined;
      report?: ReportProgress | undefined;
    },
  ): Promise<Snapshot>;
  /** See `RecoveryPointMaker`. */
  recordPoint(
    install: HostedInstall,
    order: PointOrder,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<RecordedPoint>;
  unchanged: WebsiteMarks['unchanged'];
  /** The copies of a move. See `WebsiteMover`. */
  copies: WebsiteCopies;
  /** See `Host.pack`, `Host.readPacked` and `Host.discardPacked`. */
  pack(
    install: InstallRef,
    ids: { backupId: string; archiveId: string },
    signal?: AbortSignal,
  ): Promise<PackedArchive>;
  readPacked: PackedArchives['read'];
  discardPacked: PackedArchives['discard'];
  /** Completes or undoes an interrupted restore. Call it before any other work on the website. */
  recover(installId: string): Promise<void>;
  /** See `Host.discardSnapshot`. */
  discard(install: InstallRef, backupId: string): Promise<void>;
  /** Deletes an install's repository, unfinished backups and packed archives. */
  removeAll(installId: string): Promise<void>;
  /** See `Host.heldBackups`. */
  held(install: InstallRef): Promise<string[]>;
  /** See `BackupMover`. */
  places(): Promise<BackupPlacesReport>;
  move: MoveRepositories;
  acceptPlace(): Promise<BackupPlacesReport>;
  forgetFormer(listed: readonly ListedBackups[], signal?: AbortSignal): Promise<number>;
  /** The files of an install's repository. See `WebsiteMover`. */
  files: {
    list(installId: string, after: string | null): Promise<string[]>;
    read(installId: string, name: string, offset: number): Promise<Buffer>;
    write(
      installId: string,
      part: { name: string; offset: number; isLast: boolean; content: Buffer },
    ): Promise<void>;
    trim(installId: string, names: readonly string[]): Promise<void>;
  };
  /** As {@link Backups.removeAll}, but keeps the repository. */
  removeUnfinished(installId: string): Promise<void>;
}

export interface BackupsOptions {
  layout: LinuxLayout;
  databases: Databases;
  quotas: Pick<ProjectQuotas, 'suspend' | 'resume'>;
  websites: Pick<Websites, 'makeImportedFiles' | 'replaceUrls'>;
  /** `HOMEPORT_BACKUP_REPOSITORY`; null: in `layout.backups`. */
  repository: string | null;
  credentials: S3Credentials | null;
  passwordOf(installId: string): Promise<string>;
  log: Logger;
  clock: Clock;
  random?: Randomness;
  /** Free space of a disk; tests replace it. */
  free?: FreeSpace | undefined;
  /** Called after each step of a replacement, so that tests can interrupt there. */
  reached?: ((step: ReplacementStep) => Promise<void>) | undefined;
}

const EXTRACT_MS = 15 * MINUTE_MS;

/** The beginning of the names of files that are being written into the repository of an install. */
const collectedFilesOf = (installId: string): string => `repository-${canonicalId(installId)}-`;

/** Throws an OperatorError if the repository setting is invalid. */
export function createBackups(options: BackupsOptions): Backups {
  const { layout, databases, websites, passwordOf, log, clock, random = systemRandomness } = options;
  const configured = repositoryRoot(options.repository, options.credentials, layout.backups);
  const places = createBackupPlaces({ file: layout.backupPlaces, configured, clock, log });
  const repositories = createRepositories({ places, passwordOf, clock, random });
  const replacement = createWebsiteReplacement(databases, options.quotas, { reached: options.reached });
  const contents = createBackupContents({
    folder: layout.backupIndexes,
    clock,
    files: createExtractedFiles({ folder: join(layout.scratch, 'backup-files') }),
    archives: {
      index: (from, backupId, writer, signal) =>
        onRepository(from.id, () => {
          signal.throwIfAborted();
          return ofBackup(
            from,
            backupId,
            ({ restic, id }) => readIndexed({ restic, id, from }, writer, signal),
            signal,
          );
        }),
      extract: (from, backupId, { contents: index, entry }, write) =>
        ofBackup(from, backupId, ({ restic, id }) =>
          extractFile(
            { restic, snapshotId: id, contents: index },
            entry,
            write,
            // restic repeats what fails for longer.
            AbortSignal.timeout(EXTRACT_MS),
          ),
        ),
    },
    log,
  });
  const make = createBackupMaker({ layout, databases, repositories, contents, log });
  const archives = createPackedArchives({ folder: layout.archives, clock });
  const { restore, stage } = createRestorer({
    layout,
    databases,
    filler: createStagingFiller({ layout, databases, websites, free: options.free }),
    repositories,
    replacement,
    log,
  });
  // Locks an install's files and its repository, which a restore into another install reads.
  const onFiles = serializeByKey();
  const onRepository = serializeByKey();
  const move = createRepositoryMover({
    ...{ places, passwordOf, onRepository, configured, clock, random, scratch: layout.scratch },
    rootOf: ({ address, credentials }, option) =>
      repositoryRoot(address, credentials ?? options.credentials, layout.backups, option),
  });

  /** Runs work with the snapshot of a backup, and explains its failures. */
  async function ofBackup<Result>(
    from: InstallRef,
    backupId: string,
    work: (found: { restic: Restic; id: string }) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    try {
      return await work(await requireBackup(repositories, from, backupId, signal));
    } catch (error) {
      throw explainDamage(explainRepository(error, from), from, backupId);
    }
  }

  /** Runs a restore with the index of its backup, if it needs that. The index is made before the repository is locked. */
  async function withIndex<Result>(
    {
      target,
      from,
      backupId,
      parts,
      signal,
    }: {
      target: InstallRef;
      from: InstallRef;
      backupId: string;
      parts: RestoredParts;
      signal: AbortSignal | undefined;
    },
    work: (index: Contents | null) => Promise<Result>,
  ): Promise<Result> {
    const isCopy = target.id !== from.id;
    if (!isChosen(parts, isCopy)) return work(null);
    let isIndexed = false;
    try {
      return await contents.withContents(
        from,
        backupId,
        (index) => {
          isIndexed = true;
          return work(index);
        },
        signal,
      );
    } catch (error) {
      throw isIndexed ? error : asUnchanged(error, isCopy ? NOT_IN_PLACE : undefined);
    }
  }

  async function discard(install: InstallRef, backupId: string): Promise<void> {
    try {
      await contents.forget(install.id, backupId);
      await noted.forget(install.id, backupId);
      const restic = await repositories.open(install.id);
      await places.noteDeletion(install.id, backupId);
      const ids = restic === null ? [] : await restic.find(backupId);
      if (restic === null || ids.length === 0) return;
      await restic.forget(ids);
      // The next deletion prunes, once the place has proved itself.
      if (!(await places.isSettling())) await restic.prune();
    } catch (error) {
      throw explainRepository(error, install);
    }
  }

  async function pack(
    install: InstallRef,
    { backupId, archiveId }: { backupId: string; archiveId: string },
    signal: AbortSignal | undefined,
  ): Promise<PackedArchive> {
    try {
      const { restic, id } = await requireBackup(repositories, install, backupId, signal);
      return await archives.pack(
        install.id,
        archiveId,
        async (raw) => void (await readSnapshot(restic, id, install, { signal, reader: { raw } })),
        signal,
      );
    } catch (error) {
      throw explainDamage(explainRepository(error, install), install, backupId);
    }
  }

  async function removeAll(installId: string): Promise<void> {
    await places.noteDeletion(canonicalId(installId), null);
    await repositories.remove(installId);
    // During a move, the repository may be copied already.
    await removeUnused(await places.current(), installId);
    for (const root of await places.former()) {
      await tryOrLog(log, 'could not delete backups in a former place', async () => {
        await places.requireSeen(root);
        await removeUnused(root, installId);
      });
    }
    await places.moved(installId);
    await removeUnfinished(installId);
  }

  /** Another machine that shares the place marks the repository while this one gives its copy of the website up. */
  async function removeUnused(root: RepositoryRoot, installId: string): Promise<void> {
    const { storage } = placeIn(root, canonicalId(installId));
    if (await storage.has(REPOSITORY_MARK)) return;
    await storage.removeAll();
  }

  async function removeUnfinished(installId: string): Promise<void> {
    await archives.removeAll(installId);
    await contents.removeAll(installId);
    for (const file of [dumpFileOf(layout, installId), restoredDumpOf(layout, installId)]) {
      await rm(file, { force: true });
    }
    const left = (await ifThere(readdir(layout.scratch))) ?? [];
    const own = [collectedFilesOf(installId), listingsOf(installId)];
    for (const name of left.filter((one) => own.some((beginning) => one.startsWith(beginning)))) {
      await rm(join(layout.scratch, name), { force: true });
    }
  }

  async function held(install: InstallRef): Promise<string[]> {
    try {
      const restic = await repositories.open(install.id);
      return restic === null ? [] : await backupsIn(restic);
    } catch (error) {
      throw explainRepository(error, install);
    }
  }

  /** Work on the files of a repository, in a place that can be seen: an empty folder may be an unmounted disk. */
  const atRepository = <Result>(installId: string, work: (place: RepositoryPlace) => Promise<Result>) =>
    onRepository(canonicalId(installId), async () => {
      await places.requireSeen(await places.rootOf(installId));
      return work(await places.placeOf(installId));
    });

  /** Free bytes for a file of a repository, which is collected beside it. */
  async function freeFor({ address, credentials }: RepositoryRoot): Promise<number> {
    const { free = freeSpace } = options;
    const folders = [layout.scratch, ...(credentials === null ? [address] : [])];
    const known = await Promise.all(folders.map((folder) => ifThere(free(folder))));
    return Math.min(...known.map((bytes) => bytes ?? Number.POSITIVE_INFINITY));
  }

  const noted = createNotedListings({ layout, clock });
  const recover = (installId: string) => replacement.recover(layout.homeOf(installId));
  const marks = createWebsiteMarks({ layout, writes: databases.writes, clock });
  const recordPoint = createPointRecorder({
    ...{ noted, marks, make, repositories, isSettling: places.isSettling, onRepository },
  });

  return {
    snapshot: (install, backupId, signal, report) =>
      onFiles(install.ref.id, async () => {
        await recover(install.ref.id);
        return onRepository(install.ref.id, () => make(install, canonicalId(backupId), signal, report));
      }),
    restore: (target, backupId, { from, parts = ALL_PARTS, base, restoreId, signal, report }) =>
      onFiles(target.ref.id, async () => {
        await recover(target.ref.id);
        const record = await replacement.readRecord(layout.homeOf(target.ref.id));
        const restored = recordedRestore(record, restoreId);
        if (restored !== null) return restored;
        const backup = { target: target.ref, from, backupId: canonicalId(backupId), parts, signal };
        return withIndex(backup, (index) =>
          onRepository(from.id, async () => {
            const baseId = base === undefined ? undefined : canonicalId(base);
            if (baseId !== undefined) {
              await stage(target, baseId, signal, report).catch((error: unknown) => {
                throw asUnchanged(error);
              });
            }
            return restore(target, backup.backupId, {
              ...{ from, parts, restoreId, contents: index, base: baseId, signal, report },
            }).catch((error: unknown) => {
              throw ofDifferentBase(error) ? asUnchanged(lostPoint(error, from)) : error;
            });
          }),
        );
      }),
    recordPoint: (install, ...order) =>
      onFiles(install.ref.id, async () => {
        await recover(install.ref.id);
        return recordPoint(install, ...order);
      }),
    unchanged: marks.unchanged,
    copies: createWebsiteCopies({ noted, make, restore, stage, recover, onFiles, onRepository }),
    pack: (install, { backupId, archiveId }, signal) =>
      onRepository(install.id, () => pack(install, { backupId: canonicalId(backupId), archiveId }, signal)),
    readPacked: archives.read,
    discardPacked: archives.discard,
    browseBackup: contents.browseBackup,
    listBackupTables: contents.listBackupTables,
    readBackupFile: contents.readBackupFile,
    recover: (installId) => onFiles(installId, () => recover(installId)),
    discard: (install, backupId) => onRepository(install.id, () => discard(install, canonicalId(backupId))),
    removeAll: (installId) => onRepository(installId, () => removeAll(installId)),
    held,
    places: places.report,
    move,
    async acceptPlace() {
      await places.switchTo(configured, []);
      await places.acceptCurrent();
      return places.report();
    },
    forgetFormer: (listed, signal) =>
      forgetFormer(listed, { places, repositories, onRepository, random, signal }),
    files: {
      list: (installId, after) => atRepository(installId, (place) => listRepositoryFiles(place, after)),
      read: (installId, name, offset) =>
        atRepository(installId, (place) => readRepositoryFile(place, name, offset)),
      write: (installId, part) =>
        atRepository(installId, (place) =>
          writeRepositoryFile(place, join(layout.scratch, collectedFilesOf(installId)), part, {
            claim: async () => places.claim(await places.rootOf(installId)),
            free: async () => freeFor(await places.rootOf(installId)),
          }),
        ),
      trim: (installId, names) => atRepository(installId, (place) => trimRepositoryFiles(place, names)),
    },
    removeUnfinished: (installId) => onRepository(installId, () => removeUnfinished(installId)),
  };
}

/** The error of a recovery point that does not fit its base. Points are not read back, so it shows only now, and each attempt reads the same. */
const ofDifferentBase = (error: unknown): error is UnchangedWebsiteError =>
  error instanceof UnchangedWebsiteError && error.cause instanceof DifferentCopyError;

const lostPoint = (error: Error, { name }: InstallRef) =>
  new LostBackupError(`The recovery point of ${name} cannot be restored: ${error.message}.`, {
    cause: error,
  });
