import type { Transaction } from '../../database/database.ts';
import { isUnchanged, RefusedRestoreError } from '../../hosting/contract/errors.ts';
import type { Host } from '../../hosting/contract/host.ts';
import type { InstallState } from '../../hosting/contract/install-state.ts';
import { isWhole } from '../../hosting/contract/snapshots.ts';
import { isBegun } from '../../jobs/begun-store.ts';
import { defineJob, type JobKind, PermanentFailure, Postponed } from '../../jobs/job.ts';
import { addWarning } from '../../jobs/operation-warning.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Mailer } from '../../mail/mailer.ts';
import type { Platform } from '../../platform/platform.ts';
import { permanently, postponing } from '../hosts/host-failures.ts';
import { applyInstall } from '../websites/installs/jobs.ts';
import {
  endLoss,
  findActiveInstall,
  findInstallRef,
  lostDataOf,
} from '../websites/installs/website-store.ts';
import { requestReading } from '../websites/wordpress/request-reading.ts';
import { receiveCopy } from './awaited-copies-store.ts';
import { putCheckpointBack, RETURN_ATTEMPTS, requireCheckpoint } from './checkpoints.ts';
import { requireFormerState } from './former-state-store.ts';
import { notifyOfRestore, restoreBackup } from './jobs.ts';
import { restoreMail } from './mail.ts';
import { notedRestore } from './noted-restore.ts';
import { baseOfPoint } from './recovery-points/store.ts';
import { partsOfJob } from './replaced-parts.ts';
import { ofBackup } from './restore-progress.ts';
import { returningAfterFailure } from './returning.ts';

/** Enqueues the mails about an ended restore, copy or import. `reason`: of the failure; null if it succeeded, perhaps with a `warning`. */
export async function enqueueRestoreMails(
  { queue, clock }: Pick<Platform, 'queue' | 'clock'>,
  transaction: Transaction,
  { install_id, notify = [] }: { install_id: string; notify?: string[] },
  {
    work,
    reason,
    warning,
  }: { work: 'restore' | 'copy' | 'import'; reason: string | null; warning?: string | undefined },
): Promise<void> {
  for (const address of notify) {
    await queue.enqueue(transaction, notifyOfRestore, {
      payload: {
        work,
        reason,
        ...(warning === undefined ? {} : { warning }),
        install_id,
        address,
        finished_at: timestamp(clock),
      },
      lane: null,
      install: install_id,
    });
  }
}

/** The host refused to return to a checkpoint, and is asked again. */
class RefusedReturn extends Error {
  override name = 'RefusedReturn';
}

/**
 * The failure of an attempt to return to a checkpoint. Most refusals are of the moment, such as those for a full disk, and the website
 * waits for it. Other errors get the attempts of any restore, because each can take hours.
 */
function failedReturn(error: unknown, attempt: number): unknown {
  if (error instanceof PermanentFailure) {
    if (error.cause instanceof RefusedRestoreError && error.cause.isLost) return error;
    return attempt >= RETURN_ATTEMPTS ? error : new RefusedReturn(error.message, { cause: error.cause });
  }
  const isRepeated = attempt < restoreBackup.maxAttempts || error instanceof Postponed || isUnchanged(error);
  if (isRepeated) return error;
  return new PermanentFailure('The website could not be returned to its checkpoint.', { cause: error });
}

/** The wanted state of a website that its machine lost; undefined if the install is gone. */
export type LoadState = (installId: string) => Promise<InstallState | undefined>;

/** The jobs that restore backups and email the result. */
export function restoreKinds(
  platform: Platform,
  host: Host,
  mailer: Mailer,
  loadState: LoadState,
): JobKind[] {
  const { database, queue } = platform;

  /** Makes a website that its machine does not have, so that the restore has something to fill. */
  async function makeMissing(installId: string, signal: AbortSignal): Promise<void> {
    const state = await loadState(installId);
    if (state !== undefined) await permanently(postponing(host.makeForRestore(state, signal)));
  }

  return [
    defineJob({
      ...restoreBackup,
      async run(payload, job) {
        const { id: jobId, attempt, signal, progress } = job;
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
        const isReturn = payload.puts_back === true;
        const isLost =
          !isReturn && isWhole(parts) && (await lostDataOf(database.reader, install_id)) !== null;
        if (isLost) await makeMissing(install_id, signal);
        if (!isReturn && !isWhole(parts)) await requireFormerState(database.reader, install_id, jobId);
        const report = await ofBackup(database.reader, backup_id, progress);
        const base = (await baseOfPoint(database.reader, backup_id)) ?? undefined;
        const options = { from, parts, wordpressVersion, restoreId: jobId, base };
        const restore = () =>
          notedRestore(platform, jobId, () => host.restore(install, backup_id, options, signal, report));
        const { warning } = isReturn
          ? await restore().catch((error: unknown) => {
              throw failedReturn(error, attempt);
            })
          : await returningAfterFailure({ platform, host }, restoreBackup, job, payload, restore);
        return async (transaction) => {
          if (!isReturn) await receiveCopy(transaction.queries, install_id);
          if (!isReturn && isWhole(parts)) await endLoss(transaction.queries, install_id);
          // What was changed while it was missing is not in force yet.
          if (isLost)
            await queue.enqueue(transaction, applyInstall, { payload: { id: install_id }, lane: install_id });
          await requestReading(transaction, platform.queue, install_id);
          await addWarning(transaction.queries, jobId, 'backup.restore', warning);
          await enqueueRestoreMails(platform, transaction, payload, {
            work: 'restore',
            reason: null,
            warning,
          });
        };
      },
      async giveUp(payload, { jobId, reason }, transaction) {
        await enqueueRestoreMails(platform, transaction, payload, { work: 'restore', reason });
        if (await isBegun(transaction.queries, jobId)) {
          await putCheckpointBack(platform, transaction, payload);
        }
        if (payload.puts_back !== true) return;
        platform.log.error(
          { install: payload.install_id, backup: payload.backup_id },
          'a website was not returned to its checkpoint; what waited for it fails, and later requests run',
        );
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
