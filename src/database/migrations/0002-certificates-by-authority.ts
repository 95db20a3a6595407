import type { ColumnTypes } from './column-types.ts';

/** Certificates from an authority: its account, the attempts for a domain, and the result of the last check. */
export function certificatesByAuthority(t: ColumnTypes): string[] {
  return [
    `alter table domains add column reached ${t.boolean}`,
    `alter table domains add column checked_at ${t.time}`,
    `alter table domains add column ssl_reason ${t.text}`,

    `alter table certificates add column directory_url ${t.text}`,
    `alter table certificates add column order_url ${t.text}`,
    `alter table certificates add column renewal_id ${t.text}`,
    `alter table certificates add column renew_at ${t.time}`,
    `alter table certificates add column warned_days ${t.integer}`,

    `create table acme_accounts (
      directory_url ${t.text} primary key,
      sealed_key ${t.text} not null,
      account_url ${t.text},
      created_at ${t.time} not null
    )`,

    `create table certificate_attempts (
      domain_id ${t.uuid} primary key references domains (id) on delete cascade,
      failures ${t.integer} not null default 0,
      next_at ${t.time} not null,
      held_until ${t.time},
      order_id ${t.uuid}
    )`,
    'create index certificate_attempts_due on certificate_attempts (next_at)',

    `create table acme_validations (
      seq ${t.seq},
      name ${t.text} not null,
      at ${t.time} not null
    )`,
    'create index acme_validations_name on acme_validations (name, at)',
  ];
}
