import { type RawBuilder, sql } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { PlacedEvent } from '../events/store.ts';

/** Events that may end a problem. */
const SOLVING: ReadonlySet<string> = new Set([
  'operation.succeeded',
  'incident.ended',
  'certificate.issued',
  'certificate.uploaded',
  'domain.deleted',
  'install.deleted',
  'install.limit_reached',
]);
const OF_CERTIFICATES = sql`('certificate.failed', 'certificate.expiring')`;

/**
 * Whether the domain of a notification has the problem, or any domain of the account if the notification is about many things. Few domains have a
 * problem, and indexes contain only them. SQLite begins with these, because it reads the tables of a cross join in their order.
 */
const hasDomain = (problem: RawBuilder<unknown>, first = sql`domains`) => sql`case
  when notifications.subject = '' then exists (
    select 1 from ${first} cross join installs where ${problem} and domains.is_duplicate = false
      and installs.id = domains.install_id and installs.account_id = notifications.account_id)
  else exists (
    select 1 from installs join domains on domains.install_id = installs.id left join certificates on certificates.domain_id = domains.id
    where installs.id = notifications.install_id and installs.account_id = notifications.account_id and domains.is_duplicate = false
      and cast(domains.id as text) = notifications.subject and ${problem}) end`;

/** Failed operations of the account that `which` names, without a later success of the same. */
const hasFailed = (which: RawBuilder<unknown>) => sql`exists (
    select 1 from operations as failed join jobs on jobs.id = failed.job_id
    where failed.account_id = notifications.account_id and failed.kind = substr(notifications.problem, 18) and ${which}
      and (jobs.state = 'failed' or (jobs.state = 'succeeded' and failed.error_code is not null))
      and (failed.install_id is null or failed.kind = 'install.delete'
        or exists (select 1 from installs where installs.id = failed.install_id))
      and not exists (
        select 1 from operations as later join jobs as done on done.id = later.job_id
        where later.account_id = failed.account_id and later.kind = failed.kind and later.seq > failed.seq
          and later.install_id is not distinct from failed.install_id
          and done.state = 'succeeded' and later.error_code is null))`;

/** Whether the problem of a notification has ended: no subject has it any more. Limits of an account stay until they are read. */
const HAS_ENDED = sql`case
  when problem = 'certificate.failed' then not ${hasDomain(sql`domains.ssl_status = 'failed'`)}
  when problem = 'certificate.expiring' then not ${hasDomain(
    sql`certificates.warned_days is not null and domains.id = certificates.domain_id`,
    sql`certificates cross join domains`,
  )}
  when problem = 'incident.started' then not exists (
    select 1 from uptime_incidents as incident cross join installs
    where incident.ended_at is null and incident.confirmed_at is not null and installs.id = incident.install_id
      and installs.account_id = notifications.account_id
      and (notifications.subject = '' or incident.install_id = notifications.install_id))
  when problem = 'domain.unreachable' then not ${hasDomain(sql`domains.reached = false`)}
  when problem = 'webhook.disabled' then not exists (select 1 from webhooks
    where webhooks.account_id = notifications.account_id and not webhooks.enabled and webhooks.disabled_reason is not null
      and (notifications.subject = '' or cast(webhooks.id as text) = notifications.subject))
  when problem = 'install.limit_reached' then not exists (
    select 1 from install_quotas as reached cross join installs
    where reached.threshold > 0 and installs.id = reached.install_id and installs.account_id = notifications.account_id
      and (notifications.subject = '' or notifications.subject
        = cast(reached.install_id as text) || ':' || reached.limited || ':' || cast(reached.threshold as text)))
  when problem like 'operation.failed:%' and notifications.install_id is null then not ${hasFailed(sql`true`)}
  when problem like 'operation.failed:%' then not ${hasFailed(sql`failed.install_id = notifications.install_id`)}
  else false end`;

async function markRead(queries: Queries, now: string, condition: RawBuilder<unknown>): Promise<void> {
  await sql`update notifications set read_at = ${now}, mail_due_at = null
    where read_at is null and ${condition}`.execute(queries);
}

/** Marks notifications as read whose problem has ended. Their emails are not sent. */
export async function resolveNotifications(queries: Queries, now: string): Promise<void> {
  await markRead(queries, now, HAS_ENDED);
}

/** The same for the accounts of these events, if they may have ended a problem. */
export async function resolveByEvents(
  queries: Queries,
  now: string,
  events: readonly PlacedEvent[],
): Promise<void> {
  const solving = events.filter(({ type }) => SOLVING.has(type));
  if (solving.length === 0) return;
  const accounts = [...new Set(solving.map(({ account_id }) => account_id))];
  // The status of a domain follows when the edge serves the certificate.
  const certified = solving.flatMap(({ type, subject_id }) =>
    type.startsWith('certificate.') && subject_id !== null ? [subject_id] : [],
  );
  const ended =
    certified.length === 0
      ? HAS_ENDED
      : sql`(${HAS_ENDED} or (problem in ${OF_CERTIFICATES} and subject in (${sql.join(certified)})))`;
  await markRead(queries, now, sql`account_id in (${sql.join(accounts)}) and ${ended}`);
}
