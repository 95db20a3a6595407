import { type RawBuilder, sql } from 'kysely';
import { boundedPage, countBounded } from '../../../database/bounded-page.ts';
import type { Queries } from '../../../database/database.ts';
import type { PageRequest } from '../../../lib/page.ts';

/** The entries of an account; of one user in it; of some of its installs. */
export interface ActivityScope {
  accountId: string;
  userId: string | null;
  /** Null: no limit. */
  installIds: readonly string[] | null;
  filter: ActivityFilter;
}

/** Filters for entries; an entry must match all of them. */
export interface ActivityFilter {
  user_id?: string;
  install_id?: string;
  /** One of {@link ACTION_KINDS}. */
  kind?: string;
  /** At or after this time. */
  since?: string;
  /** Before this time. */
  until?: string;
}

const COLUMNS = [
  'seq',
  'id',
  'at',
  'action',
  'subject_id',
  'subject_name',
  'install_id',
  'install_name',
  'details',
  'user_id',
  'user_name',
  'means',
  'credential_id',
  'credential_name',
  'address',
  'request_id',
] as const;

/** The kind of an action with its full stop, in the words of the index that has it. */
const KIND = sql<string>`rtrim(action, 'abcdefghijklmnopqrstuvwxyz_')`;

function entries(queries: Queries, { accountId, userId, installIds, filter }: ActivityScope) {
  const { user_id, install_id, kind, since, until } = filter;
  let query = queries.selectFrom('activity').where('account_id', '=', accountId);
  if (userId !== null) query = query.where('user_id', '=', userId);
  if (installIds !== null) {
    query = query.where((eb) =>
      installIds.length === 0 ? eb.lit(false) : eb('install_id', 'in', installIds),
    );
  }
  if (user_id !== undefined) query = query.where('user_id', '=', user_id);
  if (install_id !== undefined) query = query.where('install_id', '=', install_id);
  if (kind !== undefined) query = query.where(KIND, '=', `${kind}.`);
  if (since !== undefined) query = query.where('at', '>=', since);
  if (until !== undefined) query = query.where('at', '<', until);
  return query;
}

/** The users named in the entries, each with their last logged name. */
export async function peopleInActivity(queries: Queries, scope: ActivityScope) {
  const { accountId, userId, installIds } = scope;
  if (userId !== null || installIds !== null) return peopleInEntries(queries, scope);
  // One look at an index for each user, however many entries the account has.
  const userAfter = (earlier: RawBuilder<unknown>) => sql`(
    select user_id from activity where account_id = ${accountId} and ${earlier} order by user_id limit 1)`;
  const { rows } = await sql<{ user_id: string; user_name: string }>`
    with recursive people (user_id) as (
      select ${userAfter(sql`user_id is not null`)}
      union all
      select ${userAfter(sql`user_id > people.user_id`)} from people where people.user_id is not null
    )
    select user_id, (
      select user_name from activity where account_id = ${accountId} and user_id = people.user_id
        order by at desc, seq desc limit 1
    ) as user_name
      from people where user_id is not null order by user_name`.execute(queries);
  return rows;
}

/** The same of some entries. */
function peopleInEntries(queries: Queries, scope: ActivityScope) {
  const latest = entries(queries, scope)
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('user_id', 'is not', null)
    .groupBy('user_id');
  return queries
    .selectFrom('activity')
    .select(['user_id', 'user_name'])
    .where('seq', 'in', latest)
    .orderBy('user_name')
    .execute();
}

/** A page of entries, latest first. */
export async function pageOfActivity(queries: Queries, scope: ActivityScope, page: PageRequest) {
  const [count, rows] = await Promise.all([
    countBounded(queries, entries(queries, scope)),
    entries(queries, scope)
      .select([...COLUMNS])
      .orderBy('at', 'desc')
      .orderBy('seq', 'desc')
      .limit(page.limit + 1)
      .offset(page.offset)
      .execute(),
  ]);
  return boundedPage(count, rows, page);
}

/** Entries before another one, latest first; null: from the latest. */
export async function activityBefore(
  queries: Queries,
  scope: ActivityScope,
  before: { at: string; seq: number } | null,
  limit: number,
) {
  return entries(queries, scope)
    .select([...COLUMNS])
    .$if(before !== null, (query) => query.where(sql<boolean>`(at, seq) < (${before?.at}, ${before?.seq})`))
    .orderBy('at', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
}

export async function findAccountName(queries: Queries, accountId: string): Promise<string | undefined> {
  const account = await queries
    .selectFrom('accounts')
    .select('name')
    .where('id', '=', accountId)
    .executeTakeFirst();
  return account?.name;
}

/** Deletes up to `limit` entries older than `time`. Returns how many. */
export async function deleteActivityBefore(queries: Queries, time: string, limit: number): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('activity')
    .where('seq', 'in', (of) =>
      of.selectFrom('activity').select('seq').where('at', '<', time).orderBy('at').limit(limit),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
