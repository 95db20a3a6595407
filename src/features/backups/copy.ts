import type { Transaction } from '../../database/database.ts';
import { BrokenWebsiteError, RefusedRestoreError } from '../../hosting/contract/errors.ts';
import type { Host } from '../../hosting/contract/host.ts';
import { isWhole } from '../../hosting/contract/snapshots.ts';
import { isBegun } from '../../jobs/begun-store.ts';
import { defineJob, type JobKind, PermanentFailure, Postponed } from '../../jobs/job.ts';
import { addWarning } from '../../jobs/operation-warning.ts';
import { timestamp } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import type { Platform } from '../../platform/platform.ts';
import { endLoss, findActiveInstall } from '../websites/installs/website-store.ts';
import { requestReading } from '../websites/wordpress/request-reading.ts';
import { discardExpiredArchives } from './archives/job-kinds.ts';
import { receiveCopy } from './awaited-copies-store.ts';
import { putCheckpointBack, requireCheckpoint } from './checkpoints.ts';
import { findCopiedBackup, moveCopyJob, spentBackups } from './copy-store.ts';
import { isFormerStateMissing, requireFormerState } from './former-state-store.ts';
import { copyInstall, discardBackup, discardCopyBackups, prepareCopy } from './jobs.ts';
import { notedRestore } from './noted-restore.ts';
import { leftByAdoptions } from './platform-copies/store.ts';
import { partsOfJob } from './replaced-parts.ts';
import { enqueueRestoreMails } from './restore-job.ts';
import { ofBackup } from './restore-progress.ts';
import { discardOverdue } from './retention.ts';
import { returningAfterFailure } from './returning.ts';

/**
 * The jobs that copy an install into another: they wait for the backup of the source and restore it into the target. In
 * the end they request the deletion of a backup made only for the copy. Users who see the operation may not see the
 * source, so no reason contains its name or the name of a file in it.
 */
export function copyKinds(platform: Platform, host: Host): JobKind[] {
  const { database, queue } = platform;
  async function discard(transaction: Transaction, backupId: string, fromId: string): Promise<void> {
    const backup = await findCopiedBackup(transaction.queries, backupId);
    if (!backup || backup.copy_job_id === null) return;
    await queue.enqueue(transaction, discardBackup, {
      payload: { backup_id: backupId, install_id: fromId },
      lane: fromId,
    });
  }

  const giveUp: JobKind<typeof copyInstall.payload>['giveUp'] = async (payload, { reason }, transaction) => {
    await discard(transaction, payload.backup_id, payload.from_id);
    await enqueueRestoreMails(platform, transaction, payload, { work: 'copy', reason });
  };

  return [
    defineJob({
      ...prepareCopy,
      async run(payload, { id, requestId }) {
        const { backup_id, install_id, from_id } = payload;
        await requireBackedUp(backup_id, from_id);
        // Its backup is of what an earlier failure left.
        if (await isFormerStateMissing(database.reader, from_id, id))
          throw new PermanentFailure(
            'The install that was to be copied could not be returned to its checkpoint after a failure, and nothing was replaced. Restore a backup there, then copy again.',
            { code: 'source_backup_failed' },
          );
        return async (transaction) => {
          const jobId = await queue.enqueue(transaction, copyInstall, {
            payload,
            lane: install_id,
            requestId,
            continues: id,
          });
          await moveCopyJob(transaction.queries, backup_id, jobId);
        };
      },
      giveUp,
    }),
    defineJob({
      ...copyInstall,
      async run(payload, job) {
        const { id: jobId, signal, log, progress } = job;
        const { backup_id, install_id, from_id } = payload;
        const from = await requireBackedUp(backup_id, from_id);
        const install = await findActiveInstall(database.reader, install_id);
        if (!install)
          throw new PermanentFailure('The install has no website to replace.', { code: 'website_missing' });
        await requireCheckpoint(database.reader, payload, 'replaced');
        const report = await ofBackup(database.reader, backup_id, progress);
        const parts = partsOfJob(payload);
        if (!isWhole(parts)) await requireFormerState(database.reader, install_id, jobId);
        const { warning } = await returningAfterFailure({ platform, host }, copyInstall, job, payload, () =>
          notedRestore(platform, jobId, () =>
            host.restore(install, backup_id, { from, parts, restoreId: jobId }, signal, report),
          ).catch((error: unknown) => {
            if (!(error instanceof PermanentFailure)) throw error;
            log.warn({ err: error }, 'failed to restore a copy');
            throw forTarget(error);
          }),
        );
        return async (transaction) => {
          await discard(transaction, backup_id, from_id);
          await receiveCopy(transaction.queries, install_id);
          if (isWhole(parts)) await endLoss(transaction.queries, install_id);
          await requestReading(transaction, queue, install_id);
          await addWarning(transaction.queries, jobId, 'install.copy', warning);
          await enqueueRestoreMails(platform, transaction, payload, { work: 'copy', reason: null, warning });
        };
      },
      async giveUp(payload, failure, transaction) {
        await giveUp(payload, failure, transaction);
        if (await isBegun(transaction.queries, failure.jobId)) {
          await putCheckpointBack(platform, transaction, payload);
        }
      },
    }),
  ];

  async function requireBackedUp(backupId: string, fromId: string) {
    const backup = await findCopiedBackup(database.reader, backupId);
    const from = await findActiveInstall(database.reader, fromId);
    if (!backup || !from)
      throw new PermanentFailure(
        'The install that was to be copied is gone, and its backups with it. Nothing was replaced.',
        { code: 'source_missing' },
      );
    if (backup.status === 'aborted')
      throw new PermanentFailure(
        'The backup of the install that was to be copied could not be made, and nothing was replaced. Why stands with that install.',
        { code: 'source_backup_failed' },
      );
    if (backup.status === 'requested')
      throw new Postponed('The backup of the install that is copied has not begun yet.');
    if (backup.status === 'in_progress')
      throw new Postponed('The install that is copied is being backed up.');
    return from;
  }
}

/** The failure of a copy as users of the target see it. */
function forTarget(failure: PermanentFailure): PermanentFailure {
  const { cause } = failure;
  // The fault of a broken website is in what was copied.
  if (cause instanceof BrokenWebsiteError) return failure;
  if (cause instanceof RefusedRestoreError) {
    return new PermanentFailure(cause.shown, { code: 'host_refused', cause });
  }
  return new PermanentFailure('The copy could not be put in place.', {
    code: 'host_refused',
    cause: failure,
  });
}

/** How long ago an adoption can have ended. This job runs every ten minutes, so a server may pause for a while. */
const LOOK_BACK_MS = 6 * HOUR_MS;

/**
 * Finds what is to be deleted: backups of copies that were cancelled with their target, those of killed restores from a platform backup,
 * checkpoints and archives.
 */
export function discardSpentKind(platform: Platform): JobKind {
  const { database, queue, clock } = platform;
  return defineJob({
    ...discardCopyBackups,
    async run() {
      const since = timestamp(clock, -LOOK_BACK_MS);
      const left = [
        ...(await spentBackups(database.reader, discardBackup.name)),
        ...(await leftByAdoptions(database.reader, since)),
      ];
      return async (transaction) => {
        for (const { id, install_id } of left) {
          await queue.enqueue(transaction, discardBackup, {
            payload: { backup_id: id, install_id },
            lane: install_id,
          });
        }
        await discardOverdue(platform, transaction);
        await discardExpiredArchives(platform, transaction);
      };
    },
  });
}
