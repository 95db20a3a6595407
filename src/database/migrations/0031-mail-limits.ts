import type { ColumnTypes } from './column-types.ts';

/** Limits of the mail of an install: the customer's, and the operator's in place of the setting. */
export function mailLimits(t: ColumnTypes): string[] {
  return [
    `alter table installs add column mail_limit ${t.integer}`,
    `alter table installs add column mail_allowance ${t.integer}`,
  ];
}
