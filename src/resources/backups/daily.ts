import { timestamp } from '../../clock.ts';
import type { Config } from '../../config.ts';
import type { Queries } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import type { BackupStatus } from '../../database/tables.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import type { Platform } from '../../platform.ts';
import { backUpDaily, createBackup, discardBackup } from './jobs.ts';
import { backupTime, nightOf } from './nightly-time.ts';

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

/** Jobs that make and delete backups. */
async function countUnderWay(queries: Queries): Promise<number> {
  const { count } = await queries
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', 'in', ['queued', 'running'])
    .where('kind', 'in', [createBackup.name, discardBackup.name])
    .executeTakeFirstOrThrow();
  return count;
}

/** The installs whose time has come in this night, and that have no backup of this night; longest due first. */
async function installsToBackUp(queries: Queries, now: Date): Promise<string[]> {
  const night = nightOf(now);
  const without = await queries
    .selectFrom('installs as install')
    .select(['install.id', 'install.created_at'])
    .where('install.status', '=', 'active')
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
                of('backup.created_at', '>=', night.toISOString()),
                of('backup.status', 'in', UNFINISHED),
              ]),
            ),
        ),
      ),
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
