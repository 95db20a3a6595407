import type { Transaction } from '../../../database/database.ts';
import { keepRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import { type DueDomain, startAttempt } from './attempts-store.ts';
import { laneOf, obtainCertificate } from './jobs.ts';

/** An order that is under way is nobody else's to make; jobs are durable, so this long is for what nobody foresaw. */
const CLAIM_MS = DAY_MS;

/** Asks for an order of each domain's certificate, unless the domain was deleted. It takes the place of one that is under way. */
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
