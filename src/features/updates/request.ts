import type { Transaction } from '../../database/database.ts';
import type { WantedUpdates } from '../../hosting/contract/wordpress-updates.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Platform } from '../../platform/platform.ts';
import { planUpdate } from './jobs.ts';
import { insertUpdate } from './store.ts';

/** Requests an update of a locked install that has none in progress. Returns the operation's id. */
export async function enqueueUpdate(
  { queue, random, clock }: Pick<Platform, 'queue' | 'random' | 'clock'>,
  transaction: Transaction,
  {
    installId,
    wanted,
    cause,
    keep = false,
    requestId = null,
  }: {
    installId: string;
    wanted: WantedUpdates;
    cause: 'request' | 'schedule';
    /** Whether updates stay after which pages only look different. */
    keep?: boolean;
    requestId?: string | null;
  },
): Promise<string> {
  const id = random.uuid();
  await insertUpdate(transaction.queries, {
    id,
    install_id: installId,
    cause,
    wanted,
    created_at: timestamp(clock),
  });
  return queue.enqueue(transaction, planUpdate, {
    payload: { update_id: id, install_id: installId, ...(keep ? { keep } : {}) },
    lane: installId,
    requestId,
  });
}
