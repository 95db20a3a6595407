import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Transaction } from '../../database/database.ts';
import type { BackupStatus } from '../../database/tables/backups.ts';
import type { Host } from '../../hosting/contract/host.ts';
import { defineJob, type JobKind, PermanentFailure, Postponed } from '../../jobs/job.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Mailer } from '../../mail/mailer.ts';
import type { Platform } from '../../platform/platform.ts';
import { permanently, postponing } from '../hosts/host-failures.ts';
import { findActiveInstall } from '../websites/installs/website-store.ts';
import { copyKinds, discardSpentKind } from './copy.ts';
import { dailyBackupKind } from './daily-backups.ts';
import { backUpDaily, createBackup, notifyOfBackup, restoreBackup } from './jobs.ts';
import { backupMail } from './mail.ts';
import { restoreCheckKinds } from './restore-check.ts';
import { discardExpired, discardKind } from './retention.ts';
import { type BackupOutcome, findFinishedBackup, finishBackup, setBackupStatus } from './store.ts';

const addresses = Type.Array(Type.String());

/**
 * The jobs that create, verify, restore and delete backups and email notifications. `hostOf` gives the host of an
 * install.
 */
export function backupJobKinds(
  platform: Platform,
  host: Host,
  mailer: Mailer,
  hostOf: (installId: string) => Promise<Host> = async () => host,
): JobKind[] {
  const { database, queue, clock } = platform;

  /** Finishes a backup and enqueues the mails in the same transaction. */
  async function finish(transaction: Transaction, backupId: string, outcome: BackupOutcome): Promise<void> {
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
  }

  /** Outside the fence: a worker that lost the job must not undo a completed backup. */
  async function note(backupId: string, move: { from: BackupStatus; to: BackupStatus }): Promise<void> {
    await database.write(({ queries }) => setBackupStatus(queries, backupId, move));
  }

  return [
    defineJob({
      ...createBackup,
      async run({ backup_id, install_id }, { signal }) {
        const install = await findActiveInstall(database.reader, install_id);
        if (!install) throw new PermanentFailure('The install has no website to back up.');
        await note(backup_id, { from: 'requested', to: 'in_progress' });
        const making = postponing(host.snapshot(install, backup_id, signal));
        const snapshot = await permanently(making).catch(async (error: unknown) => {
          if (error instanceof Postponed) await note(backup_id, { from: 'in_progress', to: 'requested' });
          throw error;
        });
        return (transaction) =>
          finish(transaction, backup_id, {
            status: 'completed',
            bytes: snapshot.bytes,
            files: snapshot.files,
            sha256: snapshot.sha256,
            reason: null,
          });
      },
      giveUp: ({ backup_id }, failure, transaction) =>
        finish(transaction, backup_id, { status: 'aborted', reason: failure.reason }),
    }),
    defineJob({
      ...restoreBackup,
      async run({ backup_id, install_id, from_id = install_id }, { signal }) {
        const install = await findActiveInstall(database.reader, install_id);
        if (!install) throw new PermanentFailure('The install has no website to restore to.');
        const from = from_id === install_id ? install : await findActiveInstall(database.reader, from_id);
        if (!from)
          throw new PermanentFailure('The install that the backup is of is gone, and its backups with it.');
        await permanently(postponing(host.restore(install, backup_id, { from, signal })));
      },
    }),
    defineJob({
      ...notifyOfBackup,
      async run({ backup_id, address }) {
        const backup = await findFinishedBackup(database.reader, backup_id);
        if (backup) await mailer.send({ to: address, ...backupMail(backup) });
      },
    }),
    ...copyKinds(platform, host),
    discardSpentKind(platform),
    dailyBackupKind(platform),
    discardKind(platform, host),
    ...restoreCheckKinds(platform, host, hostOf),
  ];
}
