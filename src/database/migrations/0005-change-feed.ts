import type { ColumnTypes } from './column-types.ts';

type Event = 'insert' | 'update' | 'delete';

/** Rows of a table that cause a change event. `it` is the row. */
export interface Telling {
  topic: string;
  table: string;
  events: readonly Event[];
  /** The columns whose update causes an event. Default: all. */
  of?: readonly string[];
  /** Condition for rows that cause an event. */
  when?: string;
  /** Selects account, install, id and user of the change. No row: no event. */
  what: string;
}

const ALL = ['insert', 'update', 'delete'] as const;
const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';

/** Rows without an account find it by their install. If the install is gone too, its own event suffices. */
const ofInstall = (install: string, id: string) =>
  `select account_id, id, ${id}, null from installs where id = ${install}`;

/**
 * The changes that the portal follows (change-feed.ts). Updates of counters and leases, the most frequent ones, are left out.
 */
function tellings(postgres: boolean): Telling[] {
  return [
    {
      topic: 'account',
      table: 'accounts',
      events: ['update'],
      of: ['name', 'requires_second_factor'],
      what: 'select it.id, null, it.id, null',
    },
    {
      topic: 'member',
      table: 'memberships',
      events: ALL,
      what: 'select it.account_id, null, it.user_id, it.user_id',
    },
    {
      topic: 'member',
      table: 'install_grants',
      events: ['insert', 'delete'],
      what: 'select it.account_id, null, it.user_id, it.user_id',
    },
    {
      topic: 'member',
      table: 'users',
      events: ['update'],
      of: ['email', 'first_name', 'last_name', 'phone', 'mfa_enabled'],
      what: 'select account_id, null, user_id, user_id from memberships where user_id = it.id',
    },
    { topic: 'site', table: 'sites', events: ALL, what: 'select it.account_id, null, it.id, null' },
    { topic: 'install', table: 'installs', events: ALL, what: 'select it.account_id, it.id, it.id, null' },
    { topic: 'domain', table: 'domains', events: ALL, what: ofInstall('it.install_id', 'it.id') },
    {
      topic: 'domain',
      table: 'certificates',
      events: ALL,
      of: ['chain', 'source'],
      what: ofInstall('(select install_id from domains where id = it.domain_id)', 'it.domain_id'),
    },
    { topic: 'backup', table: 'backups', events: ALL, what: ofInstall('it.install_id', 'it.id') },
    {
      topic: 'report',
      table: 'domain_reports',
      events: ['insert', 'update'],
      what: ofInstall('it.install_id', 'it.id'),
    },
    { topic: 'offload', table: 'offload_settings', events: ALL, what: ofInstall('it.install_id', 'null') },
    {
      topic: 'operation',
      table: 'jobs',
      events: ['insert', 'update'],
      of: ['state', 'attempt', 'reason'],
      // Lanes are text, and not all are installs.
      when: postgres ? `it.lane ~ '${UUID}'` : 'it.lane is not null',
      what: ofInstall(postgres ? 'it.lane::uuid' : 'it.lane', 'it.id'),
    },
    {
      topic: 'activity',
      table: 'activity',
      events: ['insert'],
      when: 'it.account_id is not null',
      what: 'select it.account_id, null, null, it.user_id',
    },
  ];
}

/**
 * Triggers that report changes by any process. PostgreSQL notifies listeners; SQLite writes to a small table that followers read.
 */
export function changeFeed(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  if (dialect === 'postgres') return tellings(true).flatMap(notifying);
  return [
    `create table changes (
      seq ${t.seq},
      topic ${t.text} not null,
      account_id ${t.uuid} not null,
      install_id ${t.uuid},
      id ${t.uuid},
      user_id ${t.uuid}
    )`,
    ...tellings(false).flatMap(writing),
  ];
}

export function notifying(telling: Telling): string[] {
  const { topic, table, what } = telling;
  return [
    `create function homeport_tell_${table}() returns trigger language plpgsql as $$
    declare it ${table};
    begin
      if tg_op = 'DELETE' then it := old; else it := new; end if;
      perform pg_notify('homeport_changes', json_build_object('topic', '${topic}', 'account_id', account_id,
        'install_id', install_id, 'id', id, 'user_id', user_id)::text)
      from (${what}) as told (account_id, install_id, id, user_id);
      return null;
    end $$`,
    ...telling.events.map(
      (event) =>
        `create trigger changes_${table}_${event} after ${timing(telling, event)} on ${table} for each row
        ${condition(telling, event)} execute function homeport_tell_${table}()`,
    ),
  ];
}

export function writing(telling: Telling): string[] {
  const { topic, table, what } = telling;
  return telling.events.map((event) => {
    const told = what.replace(/^select /, `select '${topic}', `);
    return `create trigger changes_${table}_${event} after ${timing(telling, event)} on ${table} for each row
      ${condition(telling, event)}
      begin
        insert into changes (topic, account_id, install_id, id, user_id) ${ofRow(told, event)};
      end`;
  });
}

function timing({ of }: Telling, event: Event): string {
  return event === 'update' && of ? `update of ${of.join(', ')}` : event;
}

function condition({ of = [], when }: Telling, event: Event): string {
  const changed = event === 'update' ? of.map((name) => `old.${name} is distinct from new.${name}`) : [];
  const conditions = [
    ...(changed.length > 0 ? [`(${changed.join(' or ')})`] : []),
    ...(when === undefined ? [] : [ofRow(when, event)]),
  ];
  return conditions.length > 0 ? `when (${conditions.join(' and ')})` : '';
}

function ofRow(text: string, event: Event): string {
  return text.replaceAll('it.', event === 'delete' ? 'old.' : 'new.');
}
