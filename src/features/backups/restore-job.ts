import type { Transaction } from '../../database/database.ts';
import type { Host } from '../../hosting/contract/host.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../jobs/job.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Mailer } from '../../mail/mailer.ts';
import type { Platform } from '../../platform/platform.ts';
import { permanently, postponing } from '../hosts/host-failures.ts';
import { findActiveInstall, findInstallRef } from '../websites/installs/website-store.ts';
import { requestReading } from '../websites/wordpress/request-reading.ts';
import { receiveCopy } from './awaited-copies-store.ts';
import { putCheckpointBack, requireCheckpoint } from './checkpoints.ts';
import { notifyOfRestore, restoreBackup } from './jobs.ts';
import { restoreMail } from './mail.ts';
import { partsOfJob } from './replaced-parts.ts';
import { ofBackup } from './restore-progress.ts';

/** Enqueues the mails about an ended restore, copy or import. `reason`: of the failure; null if it succeeded. */
export async function enqueueRestoreMails(
  { queue, clock }: Pick<Platform, 'queue' | 'clock'>,
  transaction: Transaction,
  { install_id, notify = [] }: { install_id: string; notify?: string[] },
  outcome: { work: 'restore' | 'copy' | 'import'; reason: string | null },
): Promise<void> {
  for (const address of notify) {
    await queue.enqueue(transaction, notifyOfRestore, {
      payload: { ...outcome, install_id, address, finished_at: timestamp(clock) },
      lane: null,
      install: install_id,
    });
  }
}

/** The jobs that restore backups and email the result. */
export function restoreKinds(platform: Platform, host: Host, mailer: Mailer): JobKind[] {
  const { database } = platform;

  return [
    defineJob({
      ...restoreBackup,
      async run(payload, { signal, progress }) {
        const { backup_id, install_id, from_id = install_id, wordpress_version: wordpressVersion } = payload;
        const install = await findActiveInstall(database.reader, install_id);
        if (!install)
          throw new PermanentFailure('The install has no website to restore to.', {
            code: 'website_missing',
          });
        const from = from_id === install_id ? install : await findActiveInstall(database.reader, from_id);
        if (!from)
          throw new PermanentFailure('The install that the backup is of is gone, and its backups with it.', {
            code: 'source_missing',
          });
        await requireCheckpoint(database.reader, payload, 'restored');
        const parts = partsOfJob(payload);
        const report = await ofBackup(database.reader, backup_id, progress);
        const options = { from, parts, wordpressVersion, signal, report };
        await permanently(postponing(host.restore(install, backup_id, options)));
        return async (transaction) => {
          if (payload.puts_back !== true) await receiveCopy(transaction.queries, install_id);
          await requestReading(transaction, platform.queue, install_id);
          await enqueueRestoreMails(platform, transaction, payload, { work: 'restore', reason: null });
        };
      },
      async giveUp(payload, { reason }, transaction) {
        await enqueueRestoreMails(platform, transaction, payload, { work: 'restore', reason });
        await putCheckpointBack(platform, transaction, payload);
      },
    }),
    defineJob({
      ...notifyOfRestore,
      async run({ address, install_id, ...outcome }) {
        const install = await findInstallRef(database.reader, install_id);
        if (install)
          await mailer.send({ to: address, ...restoreMail({ ...outcome, install: install.name }) });
      },
    }),
  ];
}
