import type { ColumnTypes } from './column-types.ts';

/**
 * Traffic and storage of installs by UTC day (`YYYY-MM-DD`). The rows outlive their installs, because the account is still billed
 * for them, and name the account of the day.
 */
export function usage(t: ColumnTypes): string[] {
  return [
    `create table usage_installs (
      install_id ${t.uuid} primary key,
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      host ${t.text} not null,
      name ${t.text} not null,
      environment ${t.text}
    )`,
    'create index usage_installs_account on usage_installs (account_id)',

    `create table usage_traffic (
      install_id ${t.uuid} not null,
      day ${t.text} not null,
      source ${t.text} not null,
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      requests ${t.integer} not null,
      bytes ${t.integer} not null,
      visits ${t.integer} not null,
      primary key (install_id, day, source)
    )`,
    'create index usage_traffic_account on usage_traffic (account_id, day)',
    'create index usage_traffic_day on usage_traffic (day)',

    `create table usage_storage (
      install_id ${t.uuid} not null,
      day ${t.text} not null,
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      file_bytes ${t.integer} not null,
      database_bytes ${t.integer},
      data_bytes ${t.integer},
      tables_count ${t.integer},
      autoloaded_bytes ${t.integer},
      measured_at ${t.time} not null,
      primary key (install_id, day)
    )`,
    'create index usage_storage_account on usage_storage (account_id, day)',
    'create index usage_storage_day on usage_storage (day)',

    `create table usage_cursors (
      host ${t.text} primary key,
      ledger ${t.uuid} not null,
      revision ${t.integer} not null,
      collected_at ${t.time} not null
    )`,

    `create table account_limits (
      account_id ${t.uuid} primary key references accounts (id) on delete cascade,
      visitors ${t.integer},
      storage ${t.integer},
      bandwidth ${t.integer},
      updated_at ${t.time} not null
    )`,
  ];
}
