import { sql } from 'kysely';
import type { Queries } from '../../../../database/database.ts';

/** A webhook, as far as delivering needs it. */
export interface DeliveredWebhook {
  id: string;
  account_id: string;
  url: string;
  enabled: boolean;
  sealed_secret: string;
  previous_sealed_secret: string | null;
  previous_until: string | null;
}

/** A delivery to make, with its event. */
export interface WaitingDelivery {
  seq: number;
  lane: string;
  once: boolean;
  attempts: number;
  first_attempt_at: string | null;
  next_attempt_at: string | null;
  event_id: string;
  type: string;
  account_id: string;
  install_id: string | null;
  data: unknown;
  created_at: string;
}

/** The outcome of an attempt, as stored. */
export interface DeliveryOutcome {
  seq: number;
  state: 'pending' | 'succeeded' | 'failed';
  attempts: number;
  first_attempt_at: string;
  last_attempt_at: string;
  next_attempt_at: string | null;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  duration_ms: number;
}

export function findDelivered(queries: Queries, ids: readonly string[]): Promise<DeliveredWebhook[]> {
  return queries
    .selectFrom('webhooks')
    .select([
      'id',
      'account_id',
      'url',
      'enabled',
      'sealed_secret',
      'previous_sealed_secret',
      'previous_until',
    ])
    .where('id', 'in', ids)
    .execute();
}

const withEvents = (queries: Queries) =>
  queries
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('events as event', 'event.seq', 'delivery.event_seq')
    .select([
      'delivery.seq',
      'delivery.lane',
      'delivery.once',
      'delivery.attempts',
      'delivery.first_attempt_at',
      'delivery.next_attempt_at',
      'event.id as event_id',
      'event.type',
      'event.account_id',
      'event.install_id',
      'event.data',
      'event.created_at',
    ])
    .orderBy('delivery.seq');

/** Deliveries of one lane that wait, after a number. */
export function waitingInLane(
  queries: Queries,
  webhookId: string,
  lane: string,
  { after, limit }: { after: number; limit: number },
): Promise<WaitingDelivery[]> {
  return withEvents(queries)
    .where('delivery.webhook_id', '=', webhookId)
    .where('delivery.state', '=', 'pending')
    .where('delivery.lane', '=', lane)
    .where('delivery.seq', '>', after)
    .limit(limit)
    .execute();
}

/** Stores outcomes of deliveries that still wait. */
export async function storeOutcomes(
  queries: Queries,
  dialect: 'sqlite' | 'postgres',
  outcomes: readonly DeliveryOutcome[],
): Promise<void> {
  const documents = JSON.stringify(outcomes);
  const rows =
    dialect === 'postgres'
      ? sql`jsonb_to_recordset(cast(${documents} as jsonb)) as outcome (seq bigint, state text, attempts bigint,
          first_attempt_at timestamptz, last_attempt_at timestamptz, next_attempt_at timestamptz,
          response_status bigint, response_body text, error text, duration_ms bigint)`
      : sql`(select value ->> 'seq' as seq, value ->> 'state' as state, value ->> 'attempts' as attempts,
          value ->> 'first_attempt_at' as first_attempt_at, value ->> 'last_attempt_at' as last_attempt_at,
          value ->> 'next_attempt_at' as next_attempt_at, value ->> 'response_status' as response_status,
          value ->> 'response_body' as response_body, value ->> 'error' as error,
          value ->> 'duration_ms' as duration_ms from json_each(${documents})) as outcome`;
  await sql`
    update webhook_deliveries set state = outcome.state, attempts = outcome.attempts,
      first_attempt_at = outcome.first_attempt_at, last_attempt_at = outcome.last_attempt_at,
      next_attempt_at = outcome.next_attempt_at, response_status = outcome.response_status,
      response_body = outcome.response_body, error = outcome.error, duration_ms = outcome.duration_ms
    from ${rows}
    where webhook_deliveries.seq = outcome.seq and webhook_deliveries.state = 'pending'`.execute(queries);
}

/** Deletes the finished deliveries of a webhook but the latest ones. */
export async function pruneDeliveries(queries: Queries, webhookId: string, kept: number): Promise<void> {
  await queries
    .deleteFrom('webhook_deliveries')
    .where('webhook_id', '=', webhookId)
    .where('state', '<>', 'pending')
    .where('seq', '<=', (eb) =>
      eb
        .selectFrom('webhook_deliveries as later')
        .select('later.seq')
        .where('later.webhook_id', '=', webhookId)
        .where('later.state', '<>', 'pending')
        .orderBy('later.seq', 'desc')
        .limit(1)
        .offset(kept),
    )
    .execute();
}
