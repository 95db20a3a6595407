import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Transaction } from '../../database/database.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Platform } from '../../platform/platform.ts';
import { backUpDaily, notifyOfBackup } from './jobs.ts';
import { discardExpired } from './retention.ts';
import { type BackupOutcome, finishBackup } from './store.ts';

const addresses = Type.Array(Type.String());

/** Creates the function that finishes a backup and enqueues the mails in the same transaction. */
export function createBackupFinisher(platform: Pick<Platform, 'config' | 'queue' | 'clock'>) {
  const { queue, clock } = platform;
  return async (transaction: Transaction, backupId: string, outcome: BackupOutcome): Promise<void> => {
    const row = await finishBackup(transaction.queries, backupId, {
      ...outcome,
      finished_at: timestamp(clock),
    });
    if (!row) return;
    if (row.scheduled) {
      await discardExpired(platform, transaction, row.install_id);
      // Expired backups make room for the next one.
      await queue.enqueue(transaction, backUpDaily, { payload: {}, lane: backUpDaily.name });
    }
    for (const address of Value.Parse(addresses, row.notification_emails)) {
      await queue.enqueue(transaction, notifyOfBackup, {
        payload: { backup_id: backupId, address },
        lane: null,
        install: row.install_id,
      });
    }
  };
}
