import { InvalidRequest } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { activeInstallIds } from './every-install-store.ts';
import { applyInstall } from './jobs.ts';
import { requireNamed } from './requested-website.ts';

/**
 * For the command line: applies the desired state of an install again, by name. The host may have lost the website, or
 * an operator may have repaired it by hand. `fromScratch`: make an empty website if the host has nothing of this one. Returns the job's id. Throws InvalidRequest.
 */
export function createApplyAgain({ database, queue }: Pick<Platform, 'database' | 'queue'>) {
  return async (
    name: string,
    { fromScratch = false }: { fromScratch?: boolean } = {},
  ): Promise<{ jobId: string; installId: string }> =>
    database.write(async (transaction) => {
      const install = await requireNamed(transaction.queries, name);
      if (install.status !== 'active') {
        throw new InvalidRequest(
          `The install "${name}" is ${install.status}; only an active one can be applied again.`,
        );
      }
      const jobId = await queue.enqueue(transaction, applyInstall, {
        payload: { id: install.id, ...(fromScratch ? { from_scratch: true } : {}) },
        lane: install.id,
      });
      return { jobId, installId: install.id };
    });
}

/** Applies the desired state of every active install. After a restore, websites may be newer than the database. */
export async function applyEveryInstall({
  database,
  queue,
}: Pick<Platform, 'database' | 'queue'>): Promise<void> {
  await database.write(async (transaction) => {
    for (const id of await activeInstallIds(transaction.queries)) {
      await queue.enqueue(transaction, applyInstall, { payload: { id }, lane: id });
    }
  });
}
