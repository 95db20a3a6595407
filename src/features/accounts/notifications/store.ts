import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely';
import type { Scope } from '../../../access/memberships.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { UUID_ON_SQLITE } from '../../../database/migrations/0025-event-triggers.ts';
import type { NotificationRow } from '../../../database/tables/notifications.ts';
import type { Tables } from '../../../database/tables.ts';
import { type EmailChoice, NOTIFICATION_CATEGORIES } from '../../../lib/notification-categories.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import type { Notice, OperationFacts } from './notices.ts';

/** Unread notifications of one problem in one account that name their install. Further ones are counted in one. */
export const NAMED_AT_MOST = 5;

/** When emails about new notifications may go out. */
export interface MailTimes {
  /** Soon, so that one email has what happens together. */
  soon: string;
  nextDigest: string;
  /** A problem that is emailed again must have been emailed before this time. */
  again: string;
}

/** Facts of operations that their events do not have. */
export async function operationFacts(queries: Queries, ids: readonly string[]): Promise<OperationFacts[]> {
  if (ids.length === 0) return [];
  const rows = await queries
    .selectFrom('operations as operation')
    .innerJoin('jobs as job', 'job.id', 'operation.job_id')
    .select([
      'operation.id',
      'operation.kind',
      'operation.result',
      'operation.error_code',
      'operation.error_message',
      'operation.install_name',
      'job.reason',
      'job.reason_code',
      'job.request_id',
    ])
    .where('operation.id', 'in', ids)
    .execute();
  const requests = [...new Set(rows.flatMap(({ request_id }) => request_id ?? []))];
  const starters = requests.length === 0 ? [] : await startersOf(queries, requests);
  const byRequest = new Map(starters.map(({ request_id, user_id }) => [request_id, user_id]));
  const backups = rows.flatMap(({ kind, result }) =>
    kind === 'backup.create' ? (backupIdOf(result) ?? []) : [],
  );
  const checkpoints = new Set(backups.length === 0 ? [] : await checkpointsAmong(queries, backups));
  return rows.map((row) => ({
    id: row.id,
    starter: row.request_id === null ? null : (byRequest.get(row.request_id) ?? null),
    error_code: row.error_code ?? row.reason_code,
    reason: row.error_message ?? row.reason,
    install_name: row.install_name,
    is_checkpoint: row.kind === 'backup.create' && checkpoints.has(backupIdOf(row.result) ?? ''),
  }));
}

function startersOf(queries: Queries, requests: readonly string[]) {
  return queries
    .selectFrom('activity')
    .select(['request_id', 'user_id'])
    .distinct()
    .where('request_id', 'in', requests)
    .where('user_id', 'is not', null)
    .execute();
}

async function checkpointsAmong(queries: Queries, ids: readonly string[]): Promise<string[]> {
  const rows = await queries
    .selectFrom('backups')
    .select('id')
    .where('id', 'in', ids)
    .where('checkpoint', '=', true)
    .execute();
  return rows.map(({ id }) => id);
}

function backupIdOf(result: unknown): string | undefined {
  const id: unknown =
    typeof result === 'object' && result !== null ? Reflect.get(result, 'backup_id') : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** The names of installs by id. */
export async function installNames(queries: Queries, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await queries.selectFrom('installs').select(['id', 'name']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/**
 * Notifies everyone who must know, with one statement. An unread notification about the same problem of the same subject counts it
 * instead. Beyond {@link NAMED_AT_MOST} subjects of a problem, one notification counts all further ones.
 */
export async function insertNotifications(
  { dialect, queries }: Transaction,
  notices: readonly Notice[],
  { soon, nextDigest, again }: MailTimes,
): Promise<void> {
  const [json, time, newId] =
    dialect === 'postgres' ? ['jsonb', 'timestamptz', 'gen_random_uuid()'] : ['text', 'text', UUID_ON_SQLITE];
  const text = (value: string | null) => sql`cast(${value} as text)`;
  const at = (value: string) => sql`cast(${value} as ${sql.raw(time)})`;
  const rows = notices.map(
    ({ event_seq, problem, subject, rule, starter, install_name, facts, ownersAreMailed }) =>
      sql`(${sql.join([
        sql`cast(${event_seq} as bigint)`,
        text(problem),
        text(subject),
        text(rule.category),
        text(rule.audience),
        text(NOTIFICATION_CATEGORIES[rule.category].email),
        text(starter),
        text(install_name),
        sql`cast(${JSON.stringify(facts)} as ${sql.raw(json)})`,
        sql`cast(${ownersAreMailed ? 1 : 0} as bigint)`,
      ])})`,
  );
  await sql`
    with noted (event_seq, problem, subject, category, audience, usual, starter, install_name, facts, owners_mailed) as (
      values ${sql.join(rows)}
    ),
    seen as (
      select member.user_id, event.account_id, noted.problem, noted.subject, noted.event_seq, event.created_at,
        case
          when coalesce(preference.email, 'default') = 'never' then null
          when preference.email = 'daily' then ${at(nextDigest)}
          when member.role = 'owner' and noted.owners_mailed = 1 then null
          when preference.email = 'immediately' then ${at(soon)}
          when noted.usual = 'immediately' and (member.role = 'owner' or cast(member.user_id as text) = noted.starter)
            then ${at(soon)}
        end as mail_due_at
      from noted
      join events as event on event.seq = noted.event_seq
      join memberships as member on member.account_id = event.account_id and member.invite_accepted
      left join notification_preferences as preference
        on preference.user_id = member.user_id and preference.category = noted.category
      where (member.role <> 'partial' or exists (
          select 1 from install_grants as given where given.user_id = member.user_id
            and given.account_id = member.account_id and given.install_id = event.install_id))
        and (cast(member.user_id as text) = noted.starter
          or (noted.audience = 'people' and (noted.starter is null or member.role = 'owner')))
    ),
    subjects as (
      select user_id, account_id, problem, subject, count(*) as events, max(event_seq) as last_seq,
        min(created_at) as first_at, max(created_at) as last_at, min(mail_due_at) as mail_due_at
      from seen group by user_id, account_id, problem, subject
    ),
    -- Once for each user and problem, not for each subject.
    listed as (
      select mine.user_id, mine.account_id, mine.problem, count(*) as subjects
      from (select distinct user_id, account_id, problem from subjects) as mine
      join notifications as unread on unread.user_id = mine.user_id and unread.account_id = mine.account_id
        and unread.problem = mine.problem and unread.subject <> '' and unread.read_at is null
      group by mine.user_id, mine.account_id, mine.problem
    ),
    known as (
      select subjects.*, coalesce(listed.subjects, 0) as listed,
        case when unread.seq is null then 0 else 1 end as is_listed
      from subjects
      left join listed on listed.user_id = subjects.user_id and listed.account_id = subjects.account_id
        and listed.problem = subjects.problem
      left join notifications as unread on unread.user_id = subjects.user_id
        and unread.account_id = subjects.account_id and unread.problem = subjects.problem
        and unread.subject = subjects.subject and unread.read_at is null
    ),
    named as (
      select known.*,
        case when is_listed > 0 or listed + row_number() over (
            partition by user_id, account_id, problem, is_listed order by last_seq) <= ${sql.lit(NAMED_AT_MOST)}
          then subject else '' end as shown
      from known
    ),
    placed as (
      select user_id, account_id, problem, shown, sum(events) as events, max(last_seq) as last_seq,
        min(first_at) as first_at, max(last_at) as last_at, min(mail_due_at) as mail_due_at
      from named group by user_id, account_id, problem, shown
    )
    insert into notifications (id, user_id, account_id, category, problem, subject, install_id, install_name, facts, count,
      first_at, last_at, mail_due_at)
    select ${sql.raw(newId)}, placed.user_id, placed.account_id, noted.category, placed.problem, placed.shown,
      case when placed.shown = '' then null else event.install_id end,
      case when placed.shown = '' then null else noted.install_name end,
      noted.facts, placed.events, placed.first_at, placed.last_at, placed.mail_due_at
    from placed
    join noted on noted.event_seq = placed.last_seq
    join events as event on event.seq = placed.last_seq
    where true
    on conflict (user_id, account_id, problem, subject) where read_at is null do update set
      count = notifications.count + excluded.count,
      last_at = excluded.last_at,
      facts = excluded.facts,
      mail_due_at = case
        when notifications.mail_due_at is not null then notifications.mail_due_at
        when notifications.mailed_at is null or notifications.mailed_at < ${at(again)} then excluded.mail_due_at
      end`.execute(queries);
}

const SHOWN = [
  'note.id',
  'note.account_id',
  'account.name as account_name',
  'note.install_id',
  'note.install_name',
  'note.category',
  'note.problem',
  'note.subject',
  'note.facts',
  'note.count',
  'note.first_at',
  'note.last_at',
  'note.read_at',
] as const;

export type StoredNotification = Pick<
  NotificationRow,
  | 'id'
  | 'account_id'
  | 'install_id'
  | 'install_name'
  | 'category'
  | 'problem'
  | 'subject'
  | 'first_at'
  | 'last_at'
  | 'read_at'
> & { account_name: string; facts: unknown; count: number };

/** Filters of an inbox; a notification must match all of them. */
export interface NotificationFilter {
  ids?: readonly string[] | undefined;
  category?: string | undefined;
  account_id?: string | undefined;
  isRead?: boolean | undefined;
}

type Notes = Tables & { note: Tables['notifications'] };

/** The notifications of a scope's user about what the scope shows now. */
function visible(eb: ExpressionBuilder<Notes, 'note'>, scope: Scope) {
  const accounts = (of: Scope['whole']) => of.map((membership) => membership.account_id);
  const [whole, partial] = [accounts(scope.whole), accounts(scope.partial)];
  const shown = [];
  if (whole.length > 0) shown.push(eb('note.account_id', 'in', whole));
  if (partial.length > 0) {
    const granted = eb
      .selectFrom('install_grants as given')
      .select('given.install_id')
      .where('given.user_id', '=', scope.userId)
      .where('given.account_id', 'in', partial);
    shown.push(eb.and([eb('note.account_id', 'in', partial), eb('note.install_id', 'in', granted)]));
    // Of many installs, without their names. Only people who see the account get those about the account.
    const ofInstalls = eb('note.category', 'not in', ['usage', 'webhooks']);
    shown.push(eb.and([eb('note.account_id', 'in', partial), eb('note.subject', '=', ''), ofInstalls]));
  }
  const own = eb.and([eb('note.user_id', '=', scope.userId), eb.or(shown)]);
  if (scope.installIds === null) return own;
  return scope.installIds.length === 0
    ? eb.lit(false)
    : eb.and([own, eb('note.install_id', 'in', scope.installIds)]);
}

function matching(
  eb: ExpressionBuilder<Notes, 'note'>,
  { ids, category, account_id, isRead }: NotificationFilter,
) {
  return eb.and([
    ...(ids === undefined ? [] : [eb('note.id', 'in', ids)]),
    ...(category === undefined ? [] : [eb('note.category', '=', category)]),
    ...(account_id === undefined ? [] : [eb('note.account_id', '=', account_id)]),
    ...(isRead === undefined ? [] : [eb('note.read_at', isRead ? 'is not' : 'is', null)]),
  ]);
}

/** One page of an inbox, latest first. */
export async function pageOfNotifications(
  queries: Queries,
  scope: Scope,
  filter: NotificationFilter,
  { limit, offset }: PageRequest,
): Promise<PageOf<StoredNotification>> {
  const of = queries
    .selectFrom('notifications as note')
    .where((eb) => visible(eb, scope))
    .where((eb) => matching(eb, filter));
  const { count } = await of.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const results =
    limit === 0
      ? []
      : await of
          .innerJoin('accounts as account', 'account.id', 'note.account_id')
          .select([...SHOWN])
          .orderBy('note.last_at', 'desc')
          .orderBy('note.seq', 'desc')
          .limit(limit)
          .offset(offset)
          .execute();
  return { count: Number(count), results };
}

/** Marks notifications of an inbox as read or unread. Emails about those that are read are not sent. Returns their number. */
export async function markNotifications(
  queries: Queries,
  scope: Scope,
  filter: NotificationFilter,
  readAt: string | null,
): Promise<number> {
  const chosen = queries
    .selectFrom('notifications as note')
    .select('note.seq')
    .where((eb) => visible(eb, scope))
    .where((eb) => matching(eb, filter));
  const { numUpdatedRows } = await queries
    .updateTable('notifications')
    .set({ read_at: readAt, mail_due_at: null })
    .where('seq', 'in', chosen)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** The choices of a user that differ from the defaults. */
export function preferencesOf(queries: Queries, userId: string) {
  return queries
    .selectFrom('notification_preferences')
    .select(['category', 'email'])
    .where('user_id', '=', userId)
    .execute();
}

/** Stores a choice of a user. */
export async function setPreference(
  queries: Queries,
  key: { user_id: string; category: string },
  email: EmailChoice,
  now: string,
): Promise<void> {
  if (email === 'default') {
    await queries
      .deleteFrom('notification_preferences')
      .where('user_id', '=', key.user_id)
      .where('category', '=', key.category)
      .execute();
    return;
  }
  await queries
    .insertInto('notification_preferences')
    .values({ ...key, email, updated_at: now })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'category']).doUpdateSet({ email, updated_at: now }),
    )
    .execute();
}

/** Stops the emails of a category that wait. */
export async function withdrawMails(queries: Queries, userId: string, category: string): Promise<void> {
  await queries
    .updateTable('notifications')
    .set({ mail_due_at: null })
    .where('user_id', '=', userId)
    .where('category', '=', category)
    .where('mail_due_at', 'is not', null)
    .execute();
}

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
