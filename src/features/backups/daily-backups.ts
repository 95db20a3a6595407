import type { Config } from '../../config/config.ts';
import type { Queries } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';
import type { Platform } from '../../platform/platform.ts';
import { countUnderWay, installsWithoutBackup, installsWithoutBackupSince } from './daily-backup-store.ts';
import { backUpDaily, createBackup, discardBackup } from './jobs.ts';
import { backupTime, nightOf } from './nightly-time.ts';
import { insertBackup } from './store.ts';

/** Wait before an aborted backup is tried again: a stale lock of restic lasts half an hour. */
const AGAIN_AFTER_MS = HOUR_MS;
/** Attempts in one night. */
const MOST_A_NIGHT = 3;
/** Jobs that create and delete backups. */
const WORK = [createBackup.name, discardBackup.name];

/** Whether installs are backed up daily. */
export function areBackupsDaily({ host, backupDays }: Pick<Config, 'host' | 'backupDays'>): boolean {
  return host === 'linux' && backupDays > 0;
}

/**
 * The job that requests daily backups, each install's at its own time of the night. Missed backups are made up for as
 * soon as possible. They take at most half of the workers, so requests of customers start at once.
 */
export function dailyBackupKind(platform: Platform): JobKind {
  const { config, database, queue, clock, random } = platform;
  return defineJob({
    ...backUpDaily,
    async run() {
      const room = Math.max(1, Math.floor(config.workers / 2)) - (await countUnderWay(database.reader, WORK));
      if (room <= 0) return;
      const due = (await installsToBackUp(database.reader, clock.now())).slice(0, room);
      return async (transaction) => {
        for (const installId of due) {
          // The install may have been deleted since.
          if (!(await lockRow(transaction, 'installs', installId))) continue;
          const id = random.uuid();
          await insertBackup(transaction.queries, {
            id,
            install_id: installId,
            description: 'Daily backup',
            notification_emails: [],
            requested_by: null,
            scheduled: true,
            created_at: timestamp(clock),
          });
          await queue.enqueue(transaction, createBackup, {
            payload: { backup_id: id, install_id: installId },
            lane: installId,
          });
        }
      };
    },
  });
}

/** Daily backups may be late by one night. */
const RECENT_MS = 2 * DAY_MS;

/** Names of the active installs older than two days without a completed backup in that time, oldest first. */
export function installsWithoutRecentBackup(queries: Queries, clock: Clock): Promise<string[]> {
  return installsWithoutBackupSince(queries, timestamp(clock, -RECENT_MS));
}

/**
 * The installs whose time in this night has come, without a backup of this night, on reachable hosts; longest overdue
 * first. An aborted backup does not count, up to the limit of attempts.
 */
async function installsToBackUp(queries: Queries, now: Date): Promise<string[]> {
  const night = nightOf(now);
  const again = new Date(now.getTime() - AGAIN_AFTER_MS).toISOString();
  const without = await installsWithoutBackup(queries, {
    night: night.toISOString(),
    again,
    most: MOST_A_NIGHT,
  });
  return (
    without
      .map(({ id, created_at }) => ({ id, at: backupTime(id, night), created_at }))
      // An install created after its time gets its first backup the next night.
      .filter(({ at, created_at }) => at <= now.getTime() && Date.parse(created_at) < at)
      .sort((a, b) => a.at - b.at)
      .map(({ id }) => id)
  );
}
