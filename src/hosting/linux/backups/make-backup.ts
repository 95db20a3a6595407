import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { allDone } from '../../../lib/concurrency.ts';
import { writeTo } from '../../../lib/started-program.ts';
import { requireBackupAllowed } from '../../contract/install-limits.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import { backupTimeMs, withinBackupTime } from '../../policy/backup-time.ts';
import type { BackupContents } from '../../websites/backup-contents/backup-browser.ts';
import type { ContentsWriter } from '../../websites/backup-contents/contents-file.ts';
import type { Databases } from '../daemons/databases.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { DamagedBackupError, type Description } from './archive-manifest.ts';
import { writeArchive } from './archive-write.ts';
import { readIndexed } from './backup-index.ts';
import { measureWebsite } from './measure-website.ts';
import { canonicalId, explainRepository, type Repositories } from './repositories.ts';
import type { Restic } from './restic.ts';
import { readSnapshot } from './snapshot-read.ts';
import { explainPacking, packWebsite, requireOnlyVanished } from './website-tar.ts';

export const dumpFileOf = (layout: LinuxLayout, installId: string) =>
  join(layout.scratch, `backup-${canonicalId(installId)}.sql`);

/**
 * The kinds of snapshots: a backup, or a copy of a website that moves or between two backups. An earlier run makes no copy unnecessary, because
 * the website may have changed. Only backups are browsed and have an index.
 */
export type Made = 'backup' | MadeCopy;

export interface MadeCopy {
  /**
   * Called after the dump of the database, as files are also read after it in a backup: every file that the dump names is there by then. Null: all files.
   */
  changes(signal: AbortSignal): Promise<ArchivedChanges | null>;
  /** Whether it is a recovery point, which is not read back. */
  isPoint: boolean;
}

/** The parts of an archive of changes beside the database. Paths are in latin1. */
export interface ArchivedChanges {
  /** The backup with everything else. */
  base: string;
  names: string;
  kept: string;
}

/** Makes the backup of a website, unless a complete one exists, and verifies it by reading it back. */
export function createBackupMaker({
  layout,
  databases,
  repositories,
  contents,
  log,
}: {
  layout: LinuxLayout;
  databases: Databases;
  repositories: Repositories;
  /** Indexes the backup while it is read back. */
  contents: Pick<BackupContents, 'whileMade'>;
  log: Logger;
}) {
  /** Refuses a website that is too large before any other work. */
  async function makeInTime(
    install: HostedInstall,
    backupId: string,
    signal: AbortSignal | undefined,
    report: ReportProgress = () => {},
    made: Made = 'backup',
  ): Promise<Snapshot> {
    const usage = await measureWebsite(layout, install.sandbox, signal);
    requireBackupAllowed(usage, layout.limits);
    return withinBackupTime(backupTimeMs(usage.bytes), signal, (limited) =>
      // The dump of the database comes on top of the measured files.
      make(install, backupId, limited, {
        made,
        report: (done, isWhole) => report(done, isWhole ? Math.max(done, usage.bytes) : null),
      }),
    );
  }

  async function make(
    install: HostedInstall,
    backupId: string,
    signal: AbortSignal,
    { made, report }: { made: Made; report(done: number, isWhole: boolean): void },
  ): Promise<Snapshot> {
    const { ref } = install;
    const dump = dumpFileOf(layout, ref.id);
    await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
    try {
      const [{ restic, ids }, leftOut] = await allDone([
        repositories.openWith(ref.id, backupId, signal),
        databases.dump(install.database, dump, signal),
      ]);
      if (leftOut.length > 0) {
        log.warn({ install: ref.id, views: leftOut }, 'the backup omits broken views');
      }
      if (made !== 'backup') {
        if (ids.length > 0) await restic.forget(ids);
        const { isPoint } = made;
        const changes = (await made.changes(signal)) ?? undefined;
        const written = await write(
          restic,
          install,
          {
            ...{ backupId, dump, changes, isPoint },
            report: (done) => report(done, changes === undefined),
          },
          signal,
        );
        if (isPoint) return written.archive;
        return await readBack(restic, install, { ...written, base: changes?.base }, null, signal);
      }
      const existing = await wholeOne(restic, ids, install, signal);
      if (existing !== null) return existing;
      const written = await write(
        restic,
        install,
        { backupId, dump, report: (done) => report(done, true) },
        signal,
      );
      return await contents.whileMade(ref.id, backupId, (writer) =>
        readBack(restic, install, written, writer, signal),
      );
    } catch (error) {
      throw explainRepository(error, ref);
    } finally {
      await rm(dump, { force: true });
    }
  }

  /** The existing backup if it is complete. Forgets incomplete ones of an earlier run. */
  async function wholeOne(
    restic: Restic,
    ids: string[],
    { ref }: HostedInstall,
    signal: AbortSignal | undefined,
  ): Promise<Snapshot | null> {
    for (const id of ids) {
      try {
        return await readSnapshot(restic, id, ref, { signal });
      } catch (error) {
        if (!(error instanceof DamagedBackupError)) throw error;
        log.warn({ install: ref.id, reason: error.message }, 'replacing an incomplete backup');
      }
    }
    if (ids.length > 0) await restic.forget(ids);
    return null;
  }

  async function write(
    restic: Restic,
    install: HostedInstall,
    {
      backupId,
      dump,
      changes,
      isPoint = false,
      report,
    }: {
      backupId: string;
      dump: string;
      changes?: ArchivedChanges | undefined;
      isPoint?: boolean;
      report(done: number): void;
    },
    signal: AbortSignal | undefined,
  ): Promise<{ id: string; archive: Snapshot }> {
    let done = 0;
    signal?.throwIfAborted();
    const tar = await packWebsite(layout, install.sandbox, changes === undefined ? 'all' : 'named');
    const keeper = restic.backUp(backupId, isPoint);
    const stop = () => Promise.all([keeper.stop(), tar.stop()]);
    signal?.addEventListener('abort', stop);
    tar.stdin.end(Buffer.from(changes?.names ?? '', 'latin1'));
    const filesEnded = tar.ended.then(({ stderr }) => {
      if (changes !== undefined) requireOnlyVanished(stderr);
    });
    filesEnded.catch(() => {});
    try {
      const description = { ...describe(install), ...(changes === undefined ? {} : { base: changes.base }) };
      const archive = await writeArchive(
        { description, dump, kept: changes?.kept, files: tar.stdout, filesEnded },
        (bytes) => {
          done += bytes.length;
          report(done);
          return writeTo(keeper.stdin, bytes);
        },
      );
      signal?.throwIfAborted();
      // Only now: an archive that ends too early must not become a backup.
      keeper.stdin.end();
      const id = await keeper.id;
      const { stderr } = await tar.ended;
      if (stderr !== '')
        log.info({ install: install.ref.id, tar: stderr.slice(-2000) }, 'files changed during the backup');
      return { id, archive };
    } catch (error) {
      const [resticFailure, tarFailure] = await stop();
      signal?.throwIfAborted();
      throw explainPacking(tarFailure ?? resticFailure ?? error);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  async function readBack(
    restic: Restic,
    { ref }: HostedInstall,
    { id, archive, base }: { id: string; archive: Snapshot; base?: string | undefined },
    writer: ContentsWriter | null,
    signal: AbortSignal | undefined,
  ): Promise<Snapshot> {
    try {
      const seen = await readIndexed({ restic, id, from: ref, base }, writer, signal);
      if (seen.sha256 !== archive.sha256) throw new DamagedBackupError('its checksum differs');
      return seen;
    } catch (error) {
      if (!(error instanceof DamagedBackupError)) throw error;
      await restic.forget([id]);
      // Caused by the disk or the memory, so worth another attempt.
      throw new Error(`The new backup of ${ref.name} differs from what was written: ${error.message}.`, {
        cause: error,
      });
    }
  }

  return makeInTime;
}

function describe({ ref, sandbox, primaryHostname }: HostedInstall): Description {
  return {
    format: 'homeport-backup',
    version: 1,
    install_id: ref.id,
    install_name: ref.name,
    primary_hostname: primaryHostname,
    wordpress_version: sandbox.wordpressVersion,
  };
}
