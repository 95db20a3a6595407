import { sql } from 'kysely';
import type { Transaction } from '../../../database/database.ts';
import { UUID_ON_SQLITE } from '../../../database/migrations/0025-event-triggers.ts';
import { NOTIFICATION_CATEGORIES } from '../../../lib/notification-categories.ts';
import type { Notice } from './notices.ts';

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
