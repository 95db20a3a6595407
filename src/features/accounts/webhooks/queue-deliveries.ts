import { Value } from 'typebox/value';
import { Type } from '../../../api/schema.ts';
import type { Transaction } from '../../../database/database.ts';
import type { Queue } from '../../../jobs/queue.ts';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { PlacedEvent } from '../events/store.ts';
import type { Arrivals } from './arrivals.ts';
import { enabledWebhooks, insertDeliveries } from './deliveries-store.ts';
import { deliverWebhook, jobOfLane } from './jobs.ts';

const filterSchema = Type.Union([Type.Null(), Type.Array(Type.String())]);

/** Parses a stored filter: null, or the listed values. Throws if it is malformed. */
export function parseFilter(stored: unknown): string[] | null {
  return Value.Parse(filterSchema, stored);
}

/** The function that queues each event for the webhooks that want it, in the transaction that places the event. */
export function deliveryQueue(
  { clock, random, queue }: { clock: Clock; random: Randomness; queue: Queue },
  arrivals: Arrivals,
) {
  return async (transaction: Transaction, events: readonly PlacedEvent[]): Promise<void> => {
    const accounts = [...new Set(events.map((event) => event.account_id))];
    const webhooks = (await enabledWebhooks(transaction, accounts)).map((webhook) => ({
      ...webhook,
      types: parseFilter(webhook.event_types),
      installs: parseFilter(webhook.install_ids),
    }));
    const created_at = timestamp(clock);
    const deliveries = events.flatMap(({ seq, type, account_id, install_id }) =>
      webhooks
        .filter(
          (webhook) =>
            webhook.account_id === account_id &&
            // A test goes to one webhook only, which has its delivery already.
            type !== 'webhook.test' &&
            (webhook.types === null || webhook.types.includes(type)) &&
            (webhook.installs === null || (install_id !== null && webhook.installs.includes(install_id))),
        )
        .map((webhook) => ({
          id: random.uuid(),
          webhook_id: webhook.id,
          event_seq: seq,
          lane: install_id ?? account_id,
          once: false,
          created_at,
        })),
    );
    await insertDeliveries(transaction.queries, deliveries);
    const accountOf = new Map(webhooks.map(({ id, account_id }) => [id, account_id]));
    const lanes = new Map(
      deliveries.map(({ webhook_id, lane }) => {
        const account_id = accountOf.get(webhook_id) ?? '';
        const job = jobOfLane({ webhook_id, lane, account_id });
        return [job.lane, job];
      }),
    );
    for (const job of lanes.values()) await queue.ensure(transaction, deliverWebhook, job);
    transaction.afterCommit(() => {
      for (const { payload } of lanes.values()) arrivals.arrived(payload.webhook_id, payload.lane);
    });
  };
}
