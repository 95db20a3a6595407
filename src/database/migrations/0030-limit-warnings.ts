import type { ColumnTypes } from './column-types.ts';

/** The warnings about limits that the owners of an account have got: one for each limit, threshold and month (`YYYY-MM`, UTC). */
export function limitWarnings(t: ColumnTypes): string[] {
  return [
    `create table limit_warnings (
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      limited ${t.text} not null,
      threshold ${t.integer} not null,
      month ${t.text} not null,
      created_at ${t.time} not null,
      primary key (account_id, limited, threshold, month)
    )`,
  ];
}
