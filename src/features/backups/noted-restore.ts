import { isUnchanged } from '../../hosting/contract/errors.ts';
import type { RestoredSnapshot } from '../../hosting/contract/snapshots.ts';
import { HostUnreachableError } from '../../hosting/remote/client.ts';
import { noteAttempt, takeBackAttempt } from '../../jobs/begun-store.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Platform } from '../../platform/platform.ts';
import { permanently, postponing } from '../hosts/host-failures.ts';

/**
 * Calls the host for a job that replaces a website. The job counts as begun, so that its checkpoint is put back after a failure. It does
 * not if no attempt reached the host, or the host says that it replaced nothing. Outside the fence: the host acts, whatever becomes of the attempt.
 */
export async function notedRestore(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  jobId: string,
  restore: () => Promise<RestoredSnapshot>,
): Promise<RestoredSnapshot> {
  const now = timestamp(clock);
  const wasBegun = await database.write(({ queries }) => noteAttempt(queries, jobId, now));
  const noted = restore().catch(async (error: unknown) => {
    if (!wasBegun && hasReplacedNothing(error)) {
      await database.write(({ queries }) => takeBackAttempt(queries, jobId, now));
    }
    throw error;
  });
  return permanently(postponing(noted));
}

const hasReplacedNothing = (error: unknown): boolean =>
  isUnchanged(error) || (error instanceof HostUnreachableError && error.isUnsent);
