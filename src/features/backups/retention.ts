import type { Transaction } from '../../database/database.ts';
import type { Host } from '../../hosting/contract/host.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import { timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import type { Platform } from '../../platform/platform.ts';
import { postponing } from '../hosts/host-failures.ts';
import { findInstallRef } from '../websites/installs/website-store.ts';
import { isUsedCopyBackup } from './copy-store.ts';
import { deleteBackup, expiredBackups } from './daily-backup-store.ts';
import { discardBackup } from './jobs.ts';

/** Requests the deletion of an install's daily backups that are past their retention. */
export async function discardExpired(
  { config, queue, clock }: Pick<Platform, 'config' | 'queue' | 'clock'>,
  transaction: Transaction,
  installId: string,
): Promise<void> {
  const expired = await expiredBackups(
    transaction.queries,
    installId,
    timestamp(clock, -config.backupDays * DAY_MS),
  );
  for (const { id } of expired) {
    await queue.enqueue(transaction, discardBackup, {
      payload: { backup_id: id, install_id: installId },
      lane: installId,
    });
  }
}

/** Deletes a backup: the host's snapshot first, then the row. */
export function discardKind(platform: Platform, host: Host): JobKind {
  const { config, database, clock } = platform;

  async function isExpired(installId: string, backupId: string): Promise<boolean> {
    const before = timestamp(clock, -config.backupDays * DAY_MS);
    const expired = await expiredBackups(database.reader, installId, before);
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
        !((await isUsedCopyBackup(reader, backup_id)) || (await isExpired(install_id, backup_id)))
      )
        return;
      await postponing(host.discardSnapshot(install, backup_id));
      return ({ queries }) => deleteBackup(queries, backup_id);
    },
  });
}
