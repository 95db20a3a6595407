import type { ColumnTypes } from './column-types.ts';

/** Requested email addresses, until the user follows the link in the confirmation email. */
export function emailChanges(t: ColumnTypes): string[] {
  return [
    `create table email_changes (
      user_id ${t.uuid} primary key references users (id) on delete cascade,
      id ${t.uuid} not null constraint email_changes__id unique,
      email ${t.text} not null,
      token_hash ${t.text} constraint email_changes__token_hash unique,
      expires_at ${t.time} not null,
      created_at ${t.time} not null
    )`,
  ];
}
