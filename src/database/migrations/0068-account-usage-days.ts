import type { ColumnTypes } from './column-types.ts';
import { rowTriggers } from './row-triggers.ts';

/**
 * The traffic of all installs of an account by day and source, which the portal shows. Each host reports its own source, so no host waits for
 * the row of another one. Triggers keep it.
 */
export function accountUsageDays(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  // Sums of whole numbers could be too large for a whole number.
  const number = 'double precision not null';
  const add = `insert into usage_account_days (account_id, day, source, requests, bytes, visits, installs)
    values (new.account_id, new.day, new.source, new.requests, new.bytes, new.visits, 1)
    on conflict (account_id, day, source) do update set
      requests = usage_account_days.requests + excluded.requests,
      bytes = usage_account_days.bytes + excluded.bytes,
      visits = usage_account_days.visits + excluded.visits,
      installs = usage_account_days.installs + 1;`;
  const row = 'where account_id = old.account_id and day = old.day and source = old.source';
  const take = `update usage_account_days set requests = requests - old.requests, bytes = bytes - old.bytes,
      visits = visits - old.visits, installs = installs - 1 ${row};`;
  const clear = `delete from usage_account_days ${row} and installs = 0;`;
  return [
    `create table usage_account_days (
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      day ${t.text} not null,
      source ${t.text} not null,
      requests ${number},
      bytes ${number},
      visits ${number},
      installs ${t.integer} not null,
      primary key (account_id, day, source)
    )`,
    `insert into usage_account_days (account_id, day, source, requests, bytes, visits, installs)
      select account_id, day, source, sum(cast(requests as double precision)), sum(cast(bytes as double precision)),
          sum(cast(visits as double precision)), count(*)
        from usage_traffic group by account_id, day, source`,
    ...rowTriggers(dialect, 'days', 'usage_traffic', [
      { on: 'insert', run: add },
      // A day can move to another account, which must leave no day without traffic behind.
      { on: 'update', of: ['account_id', 'requests', 'bytes', 'visits'], run: `${take} ${add} ${clear}` },
      { on: 'delete', run: `${take} ${clear}` },
    ]),
  ];
}
