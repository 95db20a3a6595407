import type { Host } from '../../hosting/contract/host.ts';
import { forgetBegun, isBegun } from '../../jobs/begun-store.ts';
import { type JobType, PermanentFailure, Postponed, type RunningJob } from '../../jobs/job.ts';
import type { Platform } from '../../platform/platform.ts';
import { findActiveInstall } from '../websites/installs/website-store.ts';
import type { Replacement } from './checkpoints.ts';
import { partsOfJob } from './replaced-parts.ts';
import { findBackup } from './store.ts';

/**
 * Runs `replace`, which replaces a website for a job. If it fails for good after the host began, the website returns to its checkpoint
 * before the failure is reported. If that fails as well, `giveUp` of the job requests the return, which is then tried for longer.
 */
export async function returningAfterFailure<Result>(
  { platform: { database }, host }: { platform: Pick<Platform, 'database'>; host: Pick<Host, 'restore'> },
  { maxAttempts }: Pick<JobType, 'maxAttempts'>,
  { id: jobId, attempt, signal, log }: Pick<RunningJob, 'id' | 'attempt' | 'signal' | 'log'>,
  payload: Replacement,
  replace: () => Promise<Result>,
): Promise<Result> {
  async function returnToCheckpoint(): Promise<boolean> {
    const { install_id, checkpoint_id, wordpress_version: wordpressVersion } = payload;
    if (checkpoint_id === undefined || signal.aborted) return false;
    const install = await findActiveInstall(database.reader, install_id);
    const checkpoint = await findBackup(database.reader, install_id, checkpoint_id);
    if (!install || checkpoint?.status !== 'completed') return false;
    const parts = partsOfJob({ ...payload, puts_back: true });
    await host.restore(install, checkpoint_id, { parts, wordpressVersion }, signal);
    await database.write(({ queries }) => forgetBegun(queries, jobId));
    return true;
  }

  try {
    return await replace();
  } catch (error) {
    const isPermanent = error instanceof PermanentFailure;
    const isFinal = isPermanent || (attempt >= maxAttempts && !(error instanceof Postponed));
    if (!isFinal) throw error;
    if (!(await isBegun(database.reader, jobId))) throw isPermanent ? as(error, 'change_refused') : error;
    const hasReturned = await returnToCheckpoint().catch((err: unknown) => {
      log.warn({ err }, 'could not return a website to its checkpoint; this is tried again');
      return false;
    });
    throw hasReturned && isPermanent ? as(error, 'rolled_back') : error;
  }
}

const as = ({ message, cause }: PermanentFailure, code: 'change_refused' | 'rolled_back') =>
  new PermanentFailure(message, { code, cause });
