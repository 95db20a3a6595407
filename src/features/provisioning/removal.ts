import type { Caller } from '../../access/caller.ts';
import type { Transaction } from '../../database/database.ts';
import type { Platform } from '../../platform/platform.ts';
import { releaseNames } from '../domains/domains/name-holders.ts';
import { deleteDomainsOf } from '../domains/domains/store.ts';
import { removeInstall } from '../websites/installs/jobs.ts';
import { addToInstallCount } from '../websites/installs/store.ts';
import { deleteInstall } from '../websites/installs/website-store.ts';

interface DoomedInstall {
  id: string;
  name: string;
  account_id: string;
}

/**
 * Deletes installs, which the caller holds, in the caller's transaction: their rows and all that hangs on them now, the websites by a job each.
 * Work that still waited for them is cancelled, and what runs is called off; host names that other installs had as duplicates become theirs.
 */
export async function deleteInstalls(
  transaction: Transaction,
  platform: Pick<Platform, 'queue' | 'activity' | 'clock'>,
  installs: DoomedInstall[],
  caller: Caller,
): Promise<void> {
  const { queries } = transaction;
  const { queue, activity } = platform;
  const { requestId } = caller.origin;
  for (const { id, name, account_id } of installs) {
    // What the deletion itself found, and not what was read before: a name may have become the install's just now.
    const domains = await deleteDomainsOf(queries, id);
    const host_id = await deleteInstall(queries, id);
    await addToInstallCount(queries, account_id, -1);
    await queue.cancelLane(transaction, id);
    await queue.enqueue(transaction, removeInstall, {
      payload: { id, name, host_id },
      lane: id,
      account: account_id,
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
}
