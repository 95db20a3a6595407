import type { BackupStatus } from '../../database/tables/backups.ts';
import type { Host } from '../../hosting/contract/host.ts';
import { defineJob, type JobKind, PermanentFailure, Postponed } from '../../jobs/job.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Mailer } from '../../mail/mailer.ts';
import type { Platform } from '../../platform/platform.ts';
import { permanently, postponing } from '../hosts/host-failures.ts';
import { findActiveInstall, findWebsite } from '../websites/installs/website-store.ts';
import { archiveKinds } from './archives/job-kinds.ts';
import { copyKinds, discardSpentKind } from './copy.ts';
import { dailyBackupKind } from './daily-backups.ts';
import { createBackupFinisher } from './finish-backup.ts';
import { importKind, settlementKind } from './imports/job-kinds.ts';
import { createBackup, notifyOfBackup } from './jobs.ts';
import { backupMail } from './mail.ts';
import { type OtherBackups, reconcileBackupsKind } from './reconcile-backups.ts';
import { restoreCheckKinds } from './restore-check.ts';
import { type LoadState, restoreKinds } from './restore-job.ts';
import { discardKind } from './retention.ts';
import { findFinishedBackup, setBackupStatus } from './store.ts';

/**
 * The jobs that create, verify, restore and delete backups and email notifications. `others` are the
 * backups of deleted installs. `loadState` gives the wanted state of a website, `hostOf` gives the host of an install.
 */
export function backupJobKinds(
  platform: Platform,
  host: Host,
  mailer: Mailer,
  others: OtherBackups,
  loadState: LoadState,
  hostOf: (installId: string) => Promise<Host> = async () => host,
): JobKind[] {
  const { database, clock } = platform;
  const finish = createBackupFinisher(platform);

  /** Outside the fence: a worker that lost the job must not undo a completed backup. */
  async function note(backupId: string, move: { from: BackupStatus; to: BackupStatus }): Promise<void> {
    await database.write(({ queries }) => setBackupStatus(queries, backupId, move));
  }

  return [
    defineJob({
      ...createBackup,
      async run({ backup_id, install_id }, { signal, progress }) {
        const install = await findActiveInstall(database.reader, install_id);
        if (!install)
          throw new PermanentFailure('The install has no website to back up.', { code: 'website_missing' });
        await note(backup_id, { from: 'requested', to: 'in_progress' });
        const making = postponing(
          host.snapshot(install, backup_id, signal, (done, total) => progress(done, total, 'bytes')),
        );
        const snapshot = await permanently(making).catch(async (error: unknown) => {
          if (error instanceof Postponed) await note(backup_id, { from: 'in_progress', to: 'requested' });
          throw error;
        });
        const website = await findWebsite(database.reader, { id: install_id });
        return (transaction) =>
          finish(transaction, backup_id, {
            status: 'completed',
            // The host has read it back.
            verified_at: timestamp(clock),
            wordpress_version: website?.wordpress_version ?? null,
            bytes: snapshot.bytes,
            files: snapshot.files,
            sha256: snapshot.sha256,
            reason: null,
          });
      },
      giveUp: ({ backup_id }, failure, transaction) =>
        finish(transaction, backup_id, { status: 'aborted', reason: failure.reason }),
    }),
    ...restoreKinds(platform, host, mailer, loadState),
    defineJob({
      ...notifyOfBackup,
      async run({ backup_id, address }) {
        const backup = await findFinishedBackup(database.reader, backup_id);
        if (backup) await mailer.send({ to: address, ...backupMail(backup) });
      },
    }),
    ...copyKinds(platform, host),
    importKind(platform, host),
    settlementKind(platform, host),
    ...archiveKinds(platform, host, mailer),
    discardSpentKind(platform),
    dailyBackupKind(platform),
    discardKind(platform, host),
    reconcileBackupsKind(platform, host, others),
    ...restoreCheckKinds(platform, host, hostOf),
  ];
}
