import { timestamp } from '../../clock.ts';
import type { Config } from '../../config.ts';
import type { Queries } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import type { BackupStatus } from '../../database/tables/backups.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import type { Platform } from '../../platform.ts';
import { backUpDaily, createBackup, discardBackup } from './jobs.ts';
import { backupTime, nightOf } from './nightly-time.ts';

/** A backup of the night that was aborted is made anew after so long: a stale lock of restic's lasts half an hour. */
const AGAIN_AFTER_MS = 60 * 60 * 1000;
/** How often it is begun in one night. */
const MOST_A_NIGHT = 3;

const UNFINISHED: BackupStatus[] = ['requested', 'in_progress'];

/** Whether installs are backed up every day without being asked to. */
export function areBackupsDaily({ host, backupDays }: Pick<Config, 'host' | 'backupDays'>): boolean {
  return host === 'linux' && backupDays > 0;
}

/**
 * The daily backups: each install's at its own time of the night. What could not be made then, because no process ran or too many waited,
 * is made as soon as it can be. At most half of the workers work on them, so that what customers ask for is done at once.
 */
export function dailyBackupKind(platform: Platform): JobKind {
  const { config, database, queue, clock, random } = platform;
  return defineJob({
    ...backUpDaily,
    async run() {
      const room = Math.max(1, Math.floor(config.workers / 2)) - (await countUnderWay(database.reader));
      if (room <= 0) return;
      const due = (await installsToBackUp(database.reader, clock.now())).slice(0, room);
      return async (transaction) => {
        for (const installId of due) {
          // It may have been deleted since.
          if (!(await lockRow(transaction, 'installs', installId))) continue;
          const id = random.uuid();
          await transaction.queries
            .insertInto('backups')
            .values({
              id,
              install_id: installId,
              description: 'Daily backup',
              notification_emails: '[]',
              status: 'requested',
              bytes: null,
              files: null,
              sha256: null,
              reason: null,
              requested_by: null,
              scheduled: true,
              created_at: timestamp(clock),
              finished_at: null,
            })
            .execute();
          await queue.enqueue(transaction, createBackup, {
            payload: { backup_id: id, install_id: installId },
            lane: installId,
          });
        }
      };
    },
  });
}

/** Jobs that make and delete backups, but for those that wait for a host that is away. */
async function countUnderWay(queries: Queries): Promise<number> {
  const { count } = await queries
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', 'in', ['queued', 'running'])
    .where('kind', 'in', [createBackup.name, discardBackup.name])
    .where((eb) => eb.or([eb('state', '=', 'running'), eb('attempt', '>', 0), eb('error', 'is', null)]))
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * The installs whose time has come in this night, that have no backup of this night, and whose host answers; longest due first. A
 * backup that was aborted is none, but only so often.
 */
async function installsToBackUp(queries: Queries, now: Date): Promise<string[]> {
  const night = nightOf(now);
  const again = new Date(now.getTime() - AGAIN_AFTER_MS).toISOString();
  const without = await queries
    .selectFrom('installs as install')
    .leftJoin('hosts as host', 'host.id', 'install.host_id')
    .select(['install.id', 'install.created_at'])
    .where('install.status', '=', 'active')
    // One that is away gets no pile of work for when it is back.
    .where('host.reason', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('backups as backup')
            .select('backup.id')
            .whereRef('backup.install_id', '=', 'install.id')
            .where('backup.scheduled', '=', true)
            .where((of) =>
              of.or([
                of('backup.status', 'in', UNFINISHED),
                of('backup.created_at', '>=', night.toISOString()).and(
                  of.or([of('backup.status', '<>', 'aborted'), of('backup.finished_at', '>', again)]),
                ),
              ]),
            ),
        ),
      ),
    )
    .where(
      (eb) =>
        eb
          .selectFrom('backups as aborted')
          .select((of) => of.fn.countAll<number>().as('count'))
          .whereRef('aborted.install_id', '=', 'install.id')
          .where('aborted.scheduled', '=', true)
          .where('aborted.status', '=', 'aborted')
          .where('aborted.created_at', '>=', night.toISOString()),
      '<',
      MOST_A_NIGHT,
    )
    .execute();
  return (
    without
      .map(({ id, created_at }) => ({ id, at: backupTime(id, night), created_at }))
      // One that was made after its time is backed up the next night.
      .filter(({ at, created_at }) => at <= now.getTime() && Date.parse(created_at) < at)
      .sort((a, b) => a.at - b.at)
      .map(({ id }) => id)
  );
}
