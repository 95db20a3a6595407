import type { Transaction } from '../../../database/database.ts';
import { keepRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import { type DueDomain, startAttempt } from './attempts-store.ts';
import { laneOf, obtainCertificate, orderCertificate } from './jobs.ts';

/** Time after which a running order counts as abandoned. Jobs are durable, so this covers unforeseen failures only. */
const CLAIM_MS = DAY_MS;

/** Queues a certificate order for each domain that still exists. It replaces a running order. */
export async function requestOrders(
  transaction: Transaction,
  { queue, clock, random }: Pick<Platform, 'queue' | 'clock' | 'random'>,
  domains: DueDomain[],
): Promise<void> {
  for (const { id, name, install_id } of domains) {
    if (!(await keepRow(transaction, 'domains', id))) continue;
    const order_id = random.uuid();
    await startAttempt(transaction.queries, id, { order_id, next_at: timestamp(clock, CLAIM_MS) });
    await queue.enqueue(transaction, obtainCertificate, {
      payload: { domain_id: id, order_id },
      lane: laneOf(name),
      install: install_id,
    });
  }
}

/** Queues the order of a user, in place of a running one. Returns the id of the operation. The domain must exist. */
export async function requestOrderOfUser(
  transaction: Transaction,
  { queue, clock, random }: Pick<Platform, 'queue' | 'clock' | 'random'>,
  { id, name, install_id }: DueDomain,
  requestId: string | null,
): Promise<string> {
  const order_id = random.uuid();
  await startAttempt(transaction.queries, id, { order_id, next_at: timestamp(clock, CLAIM_MS) });
  return queue.enqueue(transaction, orderCertificate, {
    payload: { domain_id: id, order_id },
    lane: laneOf(name),
    install: install_id,
    requestId,
  });
}
