import type { Insertable } from 'kysely';
import type { Queries, Transaction } from '../../../database/database.ts';
import type { DeliveryState } from '../../../database/tables/events.ts';
import type { Tables } from '../../../database/tables.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';

type NewDelivery = Pick<
  Insertable<Tables['webhook_deliveries']>,
  'id' | 'webhook_id' | 'event_seq' | 'lane' | 'once' | 'created_at'
>;

/** Stays below the parameter limits of both databases. */
const ROWS_AT_ONCE = 1_000;

/** Inserts deliveries. Requires the lock of the event log, so that they commit in the order of their `seq`. */
export async function insertDeliveries(queries: Queries, deliveries: readonly NewDelivery[]): Promise<void> {
  for (let from = 0; from < deliveries.length; from += ROWS_AT_ONCE) {
    await queries
      .insertInto('webhook_deliveries')
      .values(deliveries.slice(from, from + ROWS_AT_ONCE))
      .execute();
  }
}

/** The filters of webhooks that are on, for the events of these accounts. No webhook is deleted until the transaction ends. */
export async function enabledWebhooks({ dialect, queries }: Transaction, accountIds: readonly string[]) {
  const query = queries
    .selectFrom('webhooks')
    .select(['id', 'account_id', 'event_types', 'install_ids'])
    .where('account_id', 'in', accountIds)
    .where('enabled', '=', true)
    .orderBy('seq');
  return (dialect === 'postgres' ? query.forKeyShare() : query).execute();
}

const deliveries = (queries: Queries, webhookId: string) =>
  queries
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('events as event', 'event.seq', 'delivery.event_seq')
    .where('delivery.webhook_id', '=', webhookId);

const SHOWN = [
  'delivery.id',
  'delivery.state',
  'delivery.attempts',
  'delivery.created_at',
  'delivery.last_attempt_at',
  'delivery.next_attempt_at',
  'delivery.response_status',
  'delivery.response_body',
  'delivery.error',
  'delivery.duration_ms',
  'delivery.event_seq',
  'event.id as event_id',
  'event.type as event_type',
  'event.account_id',
  'event.install_id',
  'event.data',
  'event.created_at as event_at',
] as const;

/** Deliveries of a webhook, latest first. */
export async function pageOfDeliveries(
  queries: Queries,
  webhookId: string,
  state: DeliveryState | undefined,
  page: PageRequest,
): Promise<PageOf<ShownDelivery>> {
  const of = deliveries(queries, webhookId).$if(state !== undefined, (query) =>
    query.where('delivery.state', '=', state ?? 'pending'),
  );
  const { count } = await of.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const results = await of
    .select([...SHOWN])
    .orderBy('delivery.seq', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { count, results };
}

export function findDelivery(
  queries: Queries,
  webhookId: string,
  id: string,
): Promise<ShownDelivery | undefined> {
  return deliveries(queries, webhookId)
    .select([...SHOWN])
    .where('delivery.id', '=', id)
    .executeTakeFirst();
}

export interface ShownDelivery {
  id: string;
  state: DeliveryState;
  attempts: number;
  created_at: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  duration_ms: number | null;
  event_seq: number;
  event_id: string;
  event_type: string;
  account_id: string;
  install_id: string | null;
  data: unknown;
  event_at: string;
}

/** Ends the deliveries that wait. Those that were tried keep the error of their last attempt. */
export async function failPendingDeliveries(
  queries: Queries,
  webhookId: string,
  error: string,
): Promise<void> {
  await queries
    .updateTable('webhook_deliveries')
    .set((eb) => ({ state: 'failed', next_attempt_at: null, error: eb.fn.coalesce('error', eb.val(error)) }))
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'pending')
    .execute();
}

/** The number of deliveries that wait, counted up to `most`. */
export async function countPending(queries: Queries, webhookId: string, most: number): Promise<number> {
  const { count } = await queries
    .selectFrom((from) =>
      from
        .selectFrom('webhook_deliveries')
        .select('seq')
        .where('webhook_id', '=', webhookId)
        .where('state', '=', 'pending')
        .limit(most)
        .as('waiting'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
