import { notifying, type Telling, writing } from './0005-change-feed.ts';
import { type EventTrigger, eventTrigger } from './0025-event-triggers.ts';
import type { ColumnTypes } from './column-types.ts';

/** The inbox of each user, their choices, and events of problems that had none (docs/decisions/events.md). */
export function notifications(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  return [
    `create table notifications (
      seq ${t.seq},
      id ${t.uuid} not null constraint notifications__id unique,
      user_id ${t.uuid} not null,
      account_id ${t.uuid} not null,
      category ${t.text} not null,
      problem ${t.text} not null,
      subject ${t.text} not null,
      install_id ${t.uuid},
      install_name ${t.text},
      facts ${t.json} not null,
      count ${t.integer} not null default 1,
      first_at ${t.time} not null,
      last_at ${t.time} not null,
      read_at ${t.time},
      mail_due_at ${t.time},
      mailed_at ${t.time},
      foreign key (account_id, user_id) references memberships (account_id, user_id) on delete cascade
    )`,
    // Also counts the unread ones of a user.
    `create unique index notifications__user_id__account_id__problem__subject on notifications (user_id, account_id, problem, subject)
      where read_at is null`,
    'create index notifications_user on notifications (user_id, last_at)',
    'create index notifications_member on notifications (account_id, user_id)',
    'create index notifications_mail on notifications (mail_due_at) where mail_due_at is not null',
    'create index notifications_age on notifications (last_at)',

    `create table notification_preferences (
      user_id ${t.uuid} not null references users (id) on delete cascade,
      category ${t.text} not null,
      email ${t.text} not null check (email in ('immediately', 'daily', 'never')),
      updated_at ${t.time} not null,
      primary key (user_id, category)
    )`,

    // The person who started an operation is found by the request.
    'create index activity_request on activity (request_id) where request_id is not null',

    ...(dialect === 'postgres' ? notifying(told) : writing(told)),
    ...PROBLEM_TRIGGERS.flatMap((trigger) => eventTrigger(trigger, t, dialect)),
  ];
}

const told: Telling = {
  topic: 'notification',
  table: 'notifications',
  events: ['insert', 'update'],
  of: ['count', 'last_at', 'read_at'],
  what: 'select it.account_id, null, it.id, it.user_id',
};

const OF_DOMAIN = 'select id as install_id, account_id from installs where id = it.install_id';

/** Events of problems, besides those of migration 0025. */
export const PROBLEM_TRIGGERS: readonly EventTrigger[] = [
  {
    type: 'domain.unreachable',
    table: 'domains',
    on: 'update',
    of: ['reached'],
    // A domain that never led here is still being set up.
    when: 'old.reached and not it.reached',
    from: OF_DOMAIN,
    subject: 'it.id',
    data: { domain_id: 'it.id', name: 'it.name' },
  },
  {
    type: 'certificate.failed',
    table: 'domains',
    on: 'update',
    of: ['ssl_status'],
    when: `it.ssl_status = 'failed'`,
    from: OF_DOMAIN,
    subject: 'it.id',
    data: { domain_id: 'it.id', name: 'it.name' },
  },
  {
    type: 'certificate.expiring',
    table: 'certificates',
    on: 'update',
    of: ['warned_days'],
    when: 'it.warned_days is not null',
    from: `select installs.id as install_id, installs.account_id from domains
      join installs on installs.id = domains.install_id where domains.id = it.domain_id`,
    subject: 'it.domain_id',
    data: {
      domain_id: 'it.domain_id',
      name: '(select name from domains where id = it.domain_id)',
      source: 'it.source',
      days: 'it.warned_days',
    },
  },
  {
    type: 'usage.limit_reached',
    table: 'limit_warnings',
    on: 'insert',
    // The warning of 80 % is only noted if that of 100 % came first.
    from: `select it.account_id as account_id, {no_uuid} as install_id where not exists (
      select 1 from limit_warnings as higher where higher.account_id = it.account_id
        and higher.limited = it.limited and higher.month = it.month and higher.threshold > it.threshold)`,
    subject: '{no_uuid}',
    data: { limited: 'it.limited', threshold: 'it.threshold', month: 'it.month' },
  },
  {
    type: 'webhook.disabled',
    table: 'webhooks',
    on: 'update',
    of: ['enabled'],
    when: 'not it.enabled and it.disabled_reason is not null',
    subject: 'it.id',
    data: { webhook_id: 'it.id', description: 'it.description', reason: 'it.disabled_reason' },
  },
];
