import { type RawBuilder, sql } from 'kysely';
import type { Queries } from '../../../database/database.ts';

/** Deletes up to `limit` notifications last counted before `time`. Returns how many. */
export async function deleteNotificationsBefore(
  queries: Queries,
  time: string,
  limit: number,
): Promise<number> {
  return deleteChosen(
    queries,
    sql`select seq from notifications where last_at < ${time} order by last_at limit ${limit}`,
  );
}

/** Users with more than `kept` notifications. Reads an index of all, so do not call it in a transaction that writes. */
export async function usersWithMoreThan(queries: Queries, kept: number): Promise<string[]> {
  const rows = await queries
    .selectFrom('notifications')
    .select('user_id')
    .groupBy('user_id')
    .having((eb) => eb(eb.fn.countAll(), '>', kept))
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** Deletes up to `limit` notifications of a user beyond the newest `kept`. Returns how many. */
export async function deleteNotificationsBeyond(
  queries: Queries,
  userId: string,
  kept: number,
  limit: number,
): Promise<number> {
  return deleteChosen(
    queries,
    sql`select seq from (
      select seq, row_number() over (order by last_at desc, seq desc) as place from notifications
      where user_id = ${userId}
    ) as placed where place > ${kept} limit ${limit}`,
  );
}

async function deleteChosen(queries: Queries, chosen: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await sql`delete from notifications where seq in (${chosen})`.execute(queries);
  return Number(numAffectedRows ?? 0);
}
