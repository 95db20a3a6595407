import { writing } from './0005-change-feed.ts';
import type { ColumnTypes } from './column-types.ts';
import { rowTriggers } from './row-triggers.ts';

type Dialect = 'sqlite' | 'postgres';

/**
 * Lists need these to cost the same in an account of any size. Triggers keep them, so that no change can forget one: the waiting updates
 * beside each install, the number of installs by the values of filters, the former installs of an account, and its last measurement.
 */
export function listCounts(t: ColumnTypes, dialect: Dialect): string[] {
  return [
    ...waitingUpdates(t, dialect),
    ...installCounts(t, dialect),
    ...formerInstalls(t, dialect),
    ...measurements(t, dialect),
  ];
}

const waitingOf = (reading: string) =>
  `${reading}.plugin_updates + ${reading}.theme_updates + case when ${reading}.core_update is null then 0 else 1 end`;

function waitingUpdates(t: ColumnTypes, dialect: Dialect): string[] {
  const fill = `update installs set waiting_updates = known.waiting
    from (select install_id, ${waitingOf('reading')} as waiting from wordpress_readings as reading) as known
    where known.install_id = installs.id and known.waiting > 0`;
  const change = (waiting: string, reading: string) =>
    `update installs set waiting_updates = ${waiting} where id = ${reading}.install_id and waiting_updates <> ${waiting};`;
  return [
    `alter table installs add column waiting_updates ${t.integer} not null default 0`,
    // The number itself is no change that users follow.
    ...(dialect === 'postgres'
      ? [
          'alter table installs disable trigger changes_installs_update',
          fill,
          'alter table installs enable trigger changes_installs_update',
        ]
      : [
          'drop trigger changes_installs_update',
          fill,
          ...writing({
            topic: 'install',
            table: 'installs',
            events: ['update'],
            what: 'select it.account_id, it.id, it.id, null',
          }),
        ]),
    'create index installs_waiting on installs (account_id, name) where waiting_updates > 0',
    ...rowTriggers(dialect, 'waiting', 'wordpress_readings', [
      { on: 'insert', run: change(waitingOf('new'), 'new') },
      {
        on: 'update',
        of: ['plugin_updates', 'theme_updates', 'core_update'],
        run: change(waitingOf('new'), 'new'),
      },
      { on: 'delete', run: change('0', 'old') },
    ]),
  ];
}

/** The values by which installs are counted, of a row of installs. */
const counted = (install: string) =>
  [
    `${install}.account_id`,
    `${install}.status`,
    `coalesce(${install}.environment, '')`,
    `${install}.waiting_updates > 0`,
  ] as const;

function installCounts(t: ColumnTypes, dialect: Dialect): string[] {
  const add = `insert into install_counts (account_id, status, environment, is_waiting, installs)
    values (${counted('new').join(', ')}, 1)
    on conflict (account_id, status, environment, is_waiting) do update set installs = install_counts.installs + 1;`;
  const [account, status, environment, isWaiting] = counted('old');
  const take = `update install_counts set installs = installs - 1 where account_id = ${account} and status = ${status}
    and environment = ${environment} and is_waiting = (${isWaiting});`;
  // The row that serialises changes of other counts of an account, so that two transactions cannot wait for each other.
  const lock = (accounts: string) =>
    dialect === 'postgres'
      ? `perform 1 from accounts where id in (${accounts}) order by id for no key update;`
      : '';
  return [
    // Lists read them for few installs, which they sort. Many are read in the order of the list.
    'drop index installs_account_status',
    'drop index installs_account_environment',
    'create index installs_account_status on installs (account_id, status, environment)',
    'create index installs_account_environment on installs (account_id, environment)',
    `create table install_counts (
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      status ${t.text} not null,
      environment ${t.text} not null,
      is_waiting ${t.boolean} not null,
      installs ${t.integer} not null,
      primary key (account_id, status, environment, is_waiting)
    )`,
    `insert into install_counts (account_id, status, environment, is_waiting, installs)
      select ${counted('installs').join(', ')}, count(*) from installs group by 1, 2, 3, 4`,
    ...rowTriggers(dialect, 'count', 'installs', [
      { on: 'insert', run: `${lock('new.account_id')} ${add}` },
      {
        on: 'update',
        of: ['account_id', 'status', 'environment', 'waiting_updates'],
        run: `${lock('old.account_id, new.account_id')} ${take} ${add}`,
      },
      { on: 'delete', run: `${lock('old.account_id')} ${take}` },
    ]),
  ];
}

/** Installs that left an account by deletion or transfer and were counted there. The account keeps their figures. */
function formerInstalls(t: ColumnTypes, dialect: Dialect): string[] {
  const leave = `insert into usage_former_installs (account_id, install_id)
    select old.account_id, install_id from usage_installs where install_id = old.id on conflict do nothing;`;
  const enter =
    'delete from usage_former_installs where account_id = new.account_id and install_id = new.id;';
  return [
    `create table usage_former_installs (
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      install_id ${t.uuid} not null references usage_installs (install_id) on delete cascade,
      primary key (account_id, install_id)
    )`,
    'create index usage_former_installs_install on usage_former_installs (install_id)',
    // The days of an install that was transferred name several accounts. Transfers are forgotten after a time, so its first day tells, too.
    `insert into usage_former_installs (account_id, install_id)
      with moved as materialized (
        select known.install_id, present.account_id from usage_installs as known
          left join installs as present on present.id = known.install_id
          where present.id is null
            or present.site_id in (select site_id from site_transfers)
            or present.account_id <> (
              select first.account_id from usage_traffic as first
                where first.install_id = known.install_id order by first.day limit 1
            )
      )
      select traffic.account_id, moved.install_id from moved
        join usage_traffic as traffic on traffic.install_id = moved.install_id
        where moved.account_id is null or traffic.account_id <> moved.account_id
      union select known.account_id, moved.install_id from moved
        join usage_installs as known on known.install_id = moved.install_id where moved.account_id is null`,
    ...rowTriggers(dialect, 'former', 'installs', [
      { on: 'insert', run: enter },
      { on: 'update', of: ['account_id'], run: `${leave} ${enter}` },
      { on: 'delete', run: leave },
    ]),
  ];
}

function measurements(t: ColumnTypes, dialect: Dialect): string[] {
  const measure = `insert into usage_measurements (account_id, measured_at) values (new.account_id, new.measured_at)
    on conflict (account_id) do update set measured_at = excluded.measured_at
      where usage_measurements.measured_at < excluded.measured_at;`;
  return [
    `create table usage_measurements (
      account_id ${t.uuid} primary key references accounts (id) on delete cascade,
      measured_at ${t.time} not null
    )`,
    `insert into usage_measurements (account_id, measured_at)
      select id, measured_at from (
        select account.id, (
          select max(measured.measured_at) from usage_storage as measured
            where measured.account_id = account.id
              and measured.day = (select max(last.day) from usage_storage as last where last.account_id = account.id)
        ) as measured_at from accounts as account
      ) as found where measured_at is not null`,
    ...rowTriggers(dialect, 'measured', 'usage_storage', [
      { on: 'insert', run: measure },
      { on: 'update', of: ['account_id', 'measured_at'], run: measure },
    ]),
  ];
}
