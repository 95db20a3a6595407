import type { ColumnTypes } from './column-types.ts';

/** Stored answers by Idempotency-Key, and indices for filtered and sorted lists. */
export function conventions(t: ColumnTypes): string[] {
  return [
    `create table idempotency_keys (
      owner_id ${t.uuid} not null,
      key ${t.text} not null,
      fingerprint ${t.text} not null,
      status ${t.integer},
      sealed_answer ${t.text},
      created_at ${t.time} not null,
      primary key (owner_id, key)
    )`,
    'create index idempotency_keys_age on idempotency_keys (created_at)',

    'create index installs_account_status on installs (account_id, status, seq)',
    'create index installs_account_environment on installs (account_id, environment, seq)',
    'create index installs_account_name on installs (account_id, name)',
    'create index installs_account_created on installs (account_id, created_at, seq)',
    'create index sites_account_name on sites (account_id, name, seq)',
    'create index sites_account_created on sites (account_id, created_at, seq)',
  ];
}
