import { findOwners } from '../../access/owners.ts';
import type { Transaction } from '../../database/database.ts';
import type { Platform } from '../../platform/platform.ts';
import { sendTransferMail, type TransferNews } from './jobs.ts';
import type { TransferRow } from './store.ts';
import { installsOf } from './view.ts';

/** Queues a mail about a transfer to each owner of the origin or the destination. */
export async function tellOwners(
  transaction: Transaction,
  { queue }: Pick<Platform, 'queue'>,
  transfer: TransferRow,
  { news, to, reason = '' }: { news: TransferNews['news']; to: 'origin' | 'destination'; reason?: string },
): Promise<void> {
  const { origin_account_id, origin_name, destination_account_id, destination_name } = transfer;
  const origin = { id: origin_account_id, name: origin_name };
  const destination = { id: destination_account_id, name: destination_name ?? '' };
  const own = to === 'origin' ? origin : destination;
  // Before the transfer, the origin does not learn the name of the destination.
  const other = to === 'destination' ? origin.name : news === 'given' ? destination.name : '';
  for (const { email, first_name } of await findOwners(transaction.queries, own.id)) {
    await queue.enqueue(transaction, sendTransferMail, {
      payload: {
        to: email,
        first_name,
        news,
        site: transfer.site_name,
        installs: installsOf(transfer).map(({ name }) => name),
        account_id: own.id,
        account: own.name,
        other_account: other,
        reason,
      },
      lane: null,
    });
  }
}
