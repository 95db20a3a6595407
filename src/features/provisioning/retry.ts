import { OPERATOR } from '../../access/caller.ts';
import { InvalidRequest } from '../../lib/failures.ts';
import type { Platform } from '../../platform/platform.ts';
import { awaitDomains } from '../domains/domains/store.ts';
import { provisionInstall } from '../websites/installs/jobs.ts';
import { lockNamed } from '../websites/installs/requested-website.ts';
import { awaitInstall } from '../websites/installs/website-store.ts';

/**
 * For the command line: provisions an install again, by name, after its provisioning has failed. Returns the operation's id. Throws
 * InvalidRequest for an install in another state.
 */
export function createProvisioningRetry({
  database,
  queue,
  activity,
}: Pick<Platform, 'database' | 'queue' | 'activity'>) {
  return (name: string): Promise<{ installId: string; operationId: string }> =>
    database.write(async (transaction) => {
      const { queries } = transaction;
      const { id, status, account_id } = await lockNamed(transaction, name);
      if (status !== 'failed') {
        throw new InvalidRequest(`The install "${name}" is ${status}; only a failed one can be tried again.`);
      }
      await awaitInstall(queries, id);
      await awaitDomains(queries, id);
      const operationId = await queue.enqueue(transaction, provisionInstall, {
        payload: { id },
        lane: id,
        result: { install_id: id },
      });
      await activity.record(transaction, OPERATOR, account_id, {
        action: 'install.create',
        subject: { id, name },
        installId: id,
        details: { again: true },
      });
      return { installId: id, operationId };
    });
}
