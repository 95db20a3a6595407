import type { Config } from '../../config/config.ts';
import type { Transaction } from '../../database/database.ts';
import type { Host } from '../../hosting/contract/host.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import type { Platform } from '../../platform/platform.ts';
import { postponing } from '../hosts/host-failures.ts';
import { findInstallRef } from '../websites/installs/website-store.ts';
import { isUsedCopyBackup } from './copy-store.ts';
import { deleteBackup, expiredBackups } from './daily-backup-store.ts';
import { discardBackup } from './jobs.ts';
import { isDiscardable, overdueBackups } from './overdue-store.ts';
import { isLeftByAdoption } from './platform-copies/store.ts';

/** Requests the deletion of an install's daily backups that are past their retention. */
export async function discardExpired(
  { config, queue, clock }: Pick<Platform, 'config' | 'queue' | 'clock'>,
  transaction: Transaction,
  installId: string,
): Promise<void> {
  const expired = await expiredBackups(transaction.queries, installId, expiryTimes(config, clock));
  for (const { id } of expired) {
    await queue.enqueue(transaction, discardBackup, {
      payload: { backup_id: id, install_id: installId },
      lane: installId,
    });
  }
}

/** Checkpoints are for the days after a restore. */
const CHECKPOINT_DAYS = 14;
/** After a move of the backups of a host, nothing of them is deleted automatically for these days. */
const SETTLING_DAYS = 7;

const movedAfter = (clock: Clock) => timestamp(clock, -SETTLING_DAYS * DAY_MS);

const expiryTimes = ({ backupDays }: Pick<Config, 'backupDays'>, clock: Clock) => ({
  before: timestamp(clock, -backupDays * DAY_MS),
  movedAfter: movedAfter(clock),
});

const overdueTimes = (clock: Clock) => ({
  checkpointsBefore: timestamp(clock, -CHECKPOINT_DAYS * DAY_MS),
  movedAfter: movedAfter(clock),
});

/** The time from which a backup may be deleted, unless it is the last one of its install; null for manual ones. */
export function expiryOf(
  { scheduled, checkpoint, created_at }: { scheduled: boolean; checkpoint: boolean; created_at: string },
  { backupDays }: Pick<Config, 'backupDays'>,
): string | null {
  const days = checkpoint ? CHECKPOINT_DAYS : scheduled ? backupDays : null;
  return days === null ? null : new Date(Date.parse(created_at) + days * DAY_MS).toISOString();
}

/** Requests the deletion of expired checkpoints, and again of backups whose deletion was given up. */
export async function discardOverdue(
  { queue, clock }: Pick<Platform, 'queue' | 'clock'>,
  transaction: Transaction,
): Promise<void> {
  const overdue = await overdueBackups(transaction.queries, {
    ...overdueTimes(clock),
    discarding: discardBackup.name,
    limit: MOST_OVERDUE,
  });
  for (const { id, install_id } of overdue) {
    await queue.enqueue(transaction, discardBackup, {
      payload: { backup_id: id, install_id },
      lane: install_id,
    });
  }
}

/** Deletions requested at once; the rest follows at the next time. */
const MOST_OVERDUE = 200;

/** Deletes a backup: the host's snapshot first, then the row. */
export function discardKind(platform: Platform, host: Host): JobKind {
  const { config, database, clock } = platform;

  async function isExpired(installId: string, backupId: string): Promise<boolean> {
    const expired = await expiredBackups(database.reader, installId, expiryTimes(config, clock));
    return expired.some(({ id }) => id === backupId);
  }

  return defineJob({
    ...discardBackup,
    async run({ backup_id, install_id }) {
      const { reader } = database;
      const install = await findInstallRef(reader, install_id);
      // Checked again: it may have become the only backup left.
      if (
        !install ||
        !(
          (await isUsedCopyBackup(reader, backup_id)) ||
          (await isDiscardable(reader, backup_id, overdueTimes(clock))) ||
          (await isExpired(install_id, backup_id)) ||
          (await isLeftByAdoption(reader, { id: backup_id, install_id }))
        )
      )
        return;
      await postponing(host.discardSnapshot(install, backup_id));
      return ({ queries }) => deleteBackup(queries, backup_id);
    },
  });
}
