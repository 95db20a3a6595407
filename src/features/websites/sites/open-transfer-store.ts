import type { Queries } from '../../../database/database.ts';
import { OPEN_TRANSFER } from '../../../database/tables/transfers.ts';

/** Cancels the open transfer of a site that is deleted. */
export async function cancelTransferOfDeletedSite(
  queries: Queries,
  siteId: string,
  now: string,
): Promise<void> {
  await queries
    .updateTable('site_transfers')
    .set({ status: 'cancelled', reason: 'The site was deleted.', updated_at: now })
    .where('site_id', '=', siteId)
    .where('status', 'in', OPEN_TRANSFER)
    .execute();
}
