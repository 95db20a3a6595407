import { sql } from 'kysely';
import type { Scope } from '../../../access/memberships.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import type { EventType } from './event-types.ts';
import type { StoredEvent } from './view.ts';

/** Filters for events; an event must match all of them. */
export interface EventFilter {
  account_id?: string;
  install_id?: string;
  type?: string;
  /** At or after this time. */
  since?: string;
}

/** The part of the log to read: after a position, up to another, at most so many. */
export interface EventRange {
  after: number;
  upTo: number;
  limit: number;
}

export interface PositionedEvent extends StoredEvent {
  position: number;
}

/** An event that has just got its position. */
export interface PlacedEvent {
  seq: number;
  type: string;
  account_id: string;
  install_id: string | null;
  /** The id of the thing that changed. */
  subject_id: string | null;
  data: unknown;
}

/** Events placed in one transaction. */
const PLACED_AT_ONCE = 500;
/** Notifications checked in one transaction: one for each event and member of its account. */
export const CHECKED_AT_ONCE = 2_000;

const COLUMNS = ['id', 'type', 'account_id', 'install_id', 'data', 'created_at'] as const;

/** The events that a scope shows, in the order of their positions. */
export async function eventsInScope(
  queries: Queries,
  scope: Scope,
  { install_id, type, since }: EventFilter,
  { after, upTo, limit }: EventRange,
): Promise<PositionedEvent[]> {
  const accounts = (of: Scope['whole']) => of.map((membership) => membership.account_id);
  const [whole, partial] = [accounts(scope.whole), accounts(scope.partial)];
  if (whole.length + partial.length === 0) return [];
  let query = queries
    .selectFrom('events')
    .select([...COLUMNS])
    .select((eb) => eb.ref('position').$notNull().as('position'))
    .where('position', '>', after)
    .where('position', '<=', upTo)
    .where('account_id', 'in', [...whole, ...partial]);
  if (partial.length > 0) {
    query = query.where((eb) => {
      const granted = eb
        .selectFrom('install_grants')
        .select('install_grants.install_id')
        .where('user_id', '=', scope.userId)
        .where('install_grants.account_id', 'in', partial);
      const own = eb.and([eb('account_id', 'in', partial), eb('install_id', 'in', granted)]);
      return whole.length === 0 ? own : eb.or([eb('account_id', 'in', whole), own]);
    });
  }
  if (scope.installIds !== null) {
    if (scope.installIds.length === 0) return [];
    query = query.where('install_id', 'in', scope.installIds);
  }
  if (install_id !== undefined) query = query.where('install_id', '=', install_id);
  if (type !== undefined) query = query.where('type', '=', type);
  if (since !== undefined) query = query.where('created_at', '>=', since);
  return query.orderBy('position').limit(limit).execute();
}

/** The last position given. */
export async function lastPosition(queries: Queries): Promise<number> {
  const { last } = await queries.selectFrom('event_positions').select('last').executeTakeFirstOrThrow();
  return last;
}

/** The last event without a position; undefined without any. */
export async function lastUnplaced(queries: Queries): Promise<number | undefined> {
  const found = await queries
    .selectFrom('events')
    .select('seq')
    .where('position', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return found?.seq;
}

/**
 * Locks the log until the transaction ends: positions are given, and deliveries are inserted, by one transaction at a time.
 * Returns the last position.
 */
export async function lockEventLog({ queries }: Transaction): Promise<number> {
  // An update locks the row on PostgreSQL, and the next statement sees what the holder before committed.
  const { last } = await queries
    .updateTable('event_positions')
    .set((eb) => ({ last: eb.ref('last') }))
    .returning('last')
    .executeTakeFirstOrThrow();
  return last;
}

/**
 * Gives positions to the first committed events that have none, after `last`. Returns them in order. Many events of notified types are
 * placed in parts if their accounts have many members. Requires {@link lockEventLog}.
 */
export async function placeEvents(
  queries: Queries,
  last: number,
  notified: ReadonlySet<string>,
): Promise<PlacedEvent[]> {
  const { rows } = await sql<PlacedEvent>`
    with unplaced as (
      select seq, account_id, case when type in (${sql.join([...notified])}) then 1 else 0 end as is_notified
      from events where position is null order by seq limit ${sql.lit(PLACED_AT_ONCE)}
    ),
    accounts_told as (
      select account_id, count(*) as members from memberships
      where account_id in (select account_id from unplaced where is_notified = 1) group by account_id
    ),
    checked as (
      select seq, coalesce(sum(is_notified * members) over (order by seq rows between unbounded preceding and 1 preceding), 0) as before
      from unplaced left join accounts_told on accounts_told.account_id = unplaced.account_id
    )
    update events set position = placed.position
    from (
      select seq as number, cast(${last} as bigint) + row_number() over (order by seq) as position
      from checked where before < ${sql.lit(CHECKED_AT_ONCE)}
    ) as placed
    where events.seq = placed.number
    returning events.seq as seq, type, account_id, install_id, subject_id, data`.execute(queries);
  if (rows.length === 0) return [];
  await queries
    .updateTable('event_positions')
    .set({ last: last + rows.length })
    .execute();
  return rows.toSorted((one, other) => one.seq - other.seq);
}

/** Inserts an event that no trigger writes. It gets its position later. Returns its `seq`. */
export async function insertEvent(
  queries: Queries,
  event: Omit<StoredEvent, 'data' | 'type'> & { type: EventType; data: Record<string, string> },
): Promise<number> {
  const { seq } = await queries
    .insertInto('events')
    .values({ ...event, subject_id: null, data: JSON.stringify(event.data) })
    .returning('seq')
    .executeTakeFirstOrThrow();
  return seq;
}

/** Deletes up to `limit` events older than `time`. Returns how many. */
export async function deleteEventsBefore(queries: Queries, time: string, limit: number): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('events')
    .where('seq', 'in', (of) =>
      of.selectFrom('events').select('seq').where('created_at', '<', time).orderBy('created_at').limit(limit),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
