import { notifying, type Telling, writing } from './0005-change-feed.ts';
import { type EventTrigger, eventTrigger } from './0025-event-triggers.ts';
import type { ColumnTypes } from './column-types.ts';

/** When websites answered and when they did not (docs/decisions/uptime.md). */
export function uptime(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  return [
    `create table uptime_spans (
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      first_at ${t.time} not null,
      last_at ${t.time} not null,
      is_up ${t.boolean} not null,
      primary key (install_id, first_at)
    )`,
    // The present spans of all websites, and the end of the history.
    'create index uptime_spans_last on uptime_spans (last_at)',

    `create table uptime_incidents (
      seq ${t.seq},
      id ${t.uuid} not null constraint uptime_incidents__id unique,
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      cause ${t.text} not null,
      message ${t.text} not null,
      php_error ${t.text},
      started_at ${t.time} not null,
      confirmed_at ${t.time},
      ended_at ${t.time},
      end_kind ${t.text} check (end_kind in ('recovered', 'unwatched'))
    )`,
    `create unique index uptime_incidents__install_id on uptime_incidents (install_id) where ended_at is null`,
    'create index uptime_incidents_install on uptime_incidents (install_id, seq)',
    'create index uptime_incidents_age on uptime_incidents (ended_at)',

    ...(dialect === 'postgres' ? notifying(told) : writing(told)),
    ...INCIDENT_TRIGGERS.flatMap((trigger) => eventTrigger(trigger, t, dialect)),
  ];
}

const told: Telling = {
  topic: 'uptime',
  table: 'uptime_incidents',
  events: ['update'],
  of: ['confirmed_at', 'ended_at'],
  what: 'select account_id, id, it.id, null from installs where id = it.install_id',
};

const OF_INSTALL = 'select id as install_id, account_id from installs where id = it.install_id';
const INCIDENT = {
  incident_id: 'it.id',
  cause: 'it.cause',
  reason: 'it.message',
};

/** Events of incidents. An incident that is not confirmed has none. */
export const INCIDENT_TRIGGERS: readonly EventTrigger[] = [
  {
    type: 'incident.started',
    table: 'uptime_incidents',
    on: 'update',
    of: ['confirmed_at'],
    from: OF_INSTALL,
    subject: 'it.install_id',
    data: INCIDENT,
  },
  {
    type: 'incident.ended',
    table: 'uptime_incidents',
    on: 'update',
    of: ['ended_at'],
    // No one knows whether a website answers if it is no longer watched.
    when: `it.confirmed_at is not null and it.end_kind = 'recovered'`,
    from: OF_INSTALL,
    subject: 'it.install_id',
    data: INCIDENT,
  },
];
