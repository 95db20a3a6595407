import type { Logger } from 'pino';
import { allDone } from '../../../lib/concurrency.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { asUnchanged, LostBackupError, RefusedRestoreError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import type { RestoredParts, Snapshot } from '../../contract/snapshots.ts';
import type { Contents } from '../../websites/backup-contents/contents-file.ts';
import { requireSeparable } from '../../websites/backup-contents/separable-tables.ts';
import { restoreRecord } from '../../websites/replacement-record.ts';
import type { Databases } from '../daemons/databases.ts';
import { NoRoomForDatabase } from '../daemons/watch-database.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { linkSite } from '../wordpress/site-files.ts';
import { DamagedBackupError } from './archive-manifest.ts';
import { tablesOf } from './chosen-tables.ts';
import type { createStagingFiller } from './fill-staging.ts';
import { explainRepository, type Repositories } from './repositories.ts';
import type { Restic } from './restic.ts';
import type { StagedWebsite, WebsiteReplacement } from './website-replacement.ts';

const SYNC_MS = 10 * MINUTE_MS;
/** The database comes with the changes. */
const FILES: RestoredParts = { files: true, database: 'none' };

/** Restores a backup: builds and verifies the website beside the present one, and then replaces that. */
export function createRestorer({
  layout,
  databases,
  filler: { fill, fillChosen },
  repositories,
  replacement,
  log,
}: {
  layout: LinuxLayout;
  databases: Databases;
  filler: ReturnType<typeof createStagingFiller>;
  repositories: Repositories;
  replacement: WebsiteReplacement;
  log: Logger;
}) {
  async function restore(
    target: HostedInstall,
    backupId: string,
    {
      from,
      parts,
      restoreId,
      contents = null,
      base,
      signal,
      report,
    }: {
      from: InstallRef;
      parts: RestoredParts;
      /** See `RestoreOptions`. */
      restoreId?: string | undefined;
      /** The index of the backup, if only chosen parts of it are restored ({@link isChosen}). */
      contents?: Contents | null;
      /** The backup that {@link stage} has filled the staging folder with, if the restored one has only what changed since. */
      base?: string | undefined;
      signal: AbortSignal | undefined;
      report?: ReportProgress | undefined;
    },
  ): Promise<Snapshot> {
    const { ref, sandbox, database, unixUser } = target;
    const home = layout.homeOf(ref.id);
    const owner = { database, unixUser };
    let isUntouched = true;
    try {
      const [{ restic, id }, staged] = await allDone([
        requireBackup(repositories, from, backupId, signal),
        base === undefined
          ? replacement.prepare(home, { ...owner, parts }, sandbox)
          : stagedBefore(home, owner, base),
      ]);
      const filling = { staged, parts, report, base };
      const snapshot =
        contents === null
          ? await fill(restic, id, target, filling, from, signal)
          : await fillChosen({ restic, snapshotId: id, contents }, target, filling, from, signal);
      if (parts.paths !== undefined) await replacement.requirePlaceable(home, parts.paths);
      // The website keeps its present core, whatever version the backup had.
      else if (parts.files) await linkSite(layout, { ...sandbox, home: staged.folder });
      if (typeof parts.database !== 'string') {
        const pair = {
          from: await tablesOf(databases, staged.database),
          to: await tablesOf(databases, database),
        };
        requireSeparable(parts.database, pair, parts.dropAbsent ?? false);
      }
      await sync(staged.folder);
      signal?.throwIfAborted();
      isUntouched = false;
      const record = restoreRecord(restoreId, snapshot);
      await replacement.replace(home, { ...owner, parts, ...(record === undefined ? {} : { record }) });
      return snapshot;
    } catch (error) {
      await takeBack(ref);
      const explained = explainDamage(
        explainRepository(error, from),
        from,
        backupId,
        ' The website is unchanged.',
      );
      if (!isUntouched) throw explained;
      throw asUnchanged(explained, ref.id === from.id ? undefined : reasonForTarget(error));
    }
  }

  /** Fills the staging folder with the files of a backup of the install itself. They stay for a later restore with this `base`. */
  async function stage(
    { ref, sandbox, database, unixUser, ...target }: HostedInstall,
    backupId: string,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<void> {
    const home = layout.homeOf(ref.id);
    const owner = { database, unixUser };
    try {
      const [{ restic, id }, staged] = await allDone([
        requireBackup(repositories, ref, backupId, signal),
        replacement.prepare(home, { ...owner, databaseLater: true }, sandbox),
      ]);
      const filling = { staged, parts: FILES, report, base: undefined };
      await fill(restic, id, { ref, sandbox, ...owner, ...target }, filling, ref, signal);
      // So that little is left to write when the changes come.
      await sync(staged.folder);
      await replacement.noteBase(home, backupId);
    } catch (error) {
      await takeBack(ref);
      throw explainDamage(explainRepository(error, ref), ref, backupId);
    }
  }

  async function stagedBefore(
    home: string,
    owner: { database: string; unixUser: string },
    base: string,
  ): Promise<StagedWebsite> {
    const staged = await replacement.stagedFrom(home, owner, base);
    // The host was restarted since, or did other work on the website.
    if (staged === null) throw new Error('the first copy of the website is gone');
    await replacement.prepareDatabase(owner);
    return staged;
  }

  async function takeBack({ id }: InstallRef): Promise<void> {
    await replacement.recover(layout.homeOf(id)).catch((err: unknown) => {
      log.error({ err, install: id }, 'could not undo a restore; trying again at the next start of the host');
    });
  }

  const sync = (folder: string) =>
    runCommand('/usr/bin/sync', ['--file-system', folder], { timeoutMs: SYNC_MS });

  return { restore, stage };
}

/** Why a copy was refused. Users of the target may not see the source, so nothing names it or its files. */
function reasonForTarget(error: unknown): string {
  if (error instanceof NoRoomForDatabase) return error.message;
  if (error instanceof DamagedBackupError)
    return 'The backup that was to be copied is damaged. Make a new one.';
  if (error instanceof RefusedRestoreError) return error.shown;
  return NOT_IN_PLACE;
}

export const NOT_IN_PLACE = 'The backup could not be put in place.';

/** The snapshot of a backup. Rejects with a {@link LostBackupError} if there is none. */
export async function requireBackup(
  repositories: Repositories,
  from: InstallRef,
  backupId: string,
  signal: AbortSignal | undefined,
): Promise<{ restic: Restic; id: string }> {
  const restic = await repositories.open(from.id);
  const [id] = restic === null ? [] : await restic.find(backupId, signal);
  if (restic !== null && id !== undefined) return { restic, id };
  throw new LostBackupError(`This host has no backup ${backupId} of ${from.name}.`);
}

export function explainDamage(error: unknown, from: InstallRef, backupId: string, outcome = ''): unknown {
  if (!(error instanceof DamagedBackupError)) return error;
  return new LostBackupError(
    `The backup ${backupId} of ${from.name} is damaged: ${error.message}.${outcome}`,
    { cause: error },
  );
}
