import type { Platform } from '../../platform/platform.ts';
import { releaseNames } from '../domains/domains/name-assignment.ts';
import { deleteDomainsOf } from '../domains/domains/store.ts';
import { removeInstall } from '../hosts/removal-job.ts';
import type { DeleteInstalls } from '../websites/installs/deletion.ts';
import { addToInstallCount } from '../websites/installs/store.ts';
import { deleteInstall } from '../websites/installs/website-store.ts';
import { retireInstall } from './deleted-installs/jobs.ts';
import { keepInstall } from './deleted-installs/keep.ts';
import { endMoves } from './moves/end-moves.ts';

/** Creates the function that deletes installs. */
export function createInstallDeletion(
  platform: Pick<Platform, 'config' | 'queue' | 'activity' | 'clock' | 'random'>,
): DeleteInstalls {
  const { queue, activity } = platform;
  return async (transaction, installs, caller) => {
    const { queries } = transaction;
    const { requestId } = caller.origin;
    for (const { id, name, account_id } of installs) {
      const kept = await keepInstall(transaction, platform, { id, name, account_id });
      // Uses the deleted rows: a duplicate may have become the serving domain since they were read.
      const domains = await deleteDomainsOf(queries, id);
      const host_id = await deleteInstall(queries, id);
      await addToInstallCount(queries, account_id, -1);
      await queue.cancelLane(transaction, id);
      await endMoves(transaction, platform, id);
      await queue.enqueue(transaction, kept === null ? removeInstall : retireInstall, {
        payload: { id, name, host_id },
        lane: id,
        account: account_id,
        installName: name,
        operation: 'install.delete',
        requestId,
      });
      const served = domains.filter((domain) => !domain.is_duplicate && !domain.is_cname);
      await releaseNames(
        transaction,
        platform,
        account_id,
        served.map((domain) => domain.name),
        { requestId },
      );
      await activity.record(transaction, caller, account_id, {
        action: 'install.delete',
        subject: { id, name },
        installId: id,
      });
    }
  };
}
