import type { Queries } from '../../../database/database.ts';
import type { PageRequest } from '../../../lib/page.ts';
import { ACTIONS, kindOf } from '../../../platform/activity-log.ts';

/** Whose entries: all of an account, or those of one person in it. */
export interface ActivityScope {
  accountId: string;
  userId: string | null;
  /** Which of them are asked for. */
  filter: ActivityFilter;
}

/** What entries are asked for; all that is said must be true of one. */
export interface ActivityFilter {
  user_id?: string;
  install_id?: string;
  /** One of {@link ACTION_KINDS}. */
  kind?: string;
  /** From this moment on. */
  since?: string;
  /** Before this moment. */
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
  'details',
  'user_id',
  'user_name',
  'means',
  'credential_id',
  'credential_name',
  'address',
  'request_id',
] as const;

function entries(queries: Queries, { accountId, userId, filter }: ActivityScope) {
  const { user_id, install_id, kind, since, until } = filter;
  let query = queries.selectFrom('activity').where('account_id', '=', accountId);
  if (userId !== null) query = query.where('user_id', '=', userId);
  if (user_id !== undefined) query = query.where('user_id', '=', user_id);
  if (install_id !== undefined) query = query.where('install_id', '=', install_id);
  if (kind !== undefined) {
    const wanted = ACTIONS.filter((action) => kindOf(action) === kind);
    query = query.where('action', 'in', wanted);
  }
  if (since !== undefined) query = query.where('at', '>=', since);
  if (until !== undefined) query = query.where('at', '<', until);
  return query;
}

/** Who the entries tell of, each by the name that was written down last. */
export async function peopleInActivity(queries: Queries, scope: ActivityScope) {
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

/** The latest first. */
export async function pageOfActivity(queries: Queries, scope: ActivityScope, page: PageRequest) {
  return entries(queries, scope)
    .select([...COLUMNS])
    .orderBy('seq', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
}

export async function countActivity(queries: Queries, scope: ActivityScope): Promise<number> {
  const { count } = await entries(queries, scope)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** The latest before a `seq`; null: the latest of all. */
export async function activityBefore(
  queries: Queries,
  scope: ActivityScope,
  before: number | null,
  limit: number,
) {
  return entries(queries, scope)
    .select([...COLUMNS])
    .$if(before !== null, (query) => query.where('seq', '<', before ?? 0))
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

/** Deletes up to `limit` entries that are older than `time`. Returns how many. */
export async function deleteActivityBefore(queries: Queries, time: string, limit: number): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('activity')
    .where('seq', 'in', (of) =>
      of.selectFrom('activity').select('seq').where('at', '<', time).orderBy('at').limit(limit),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
