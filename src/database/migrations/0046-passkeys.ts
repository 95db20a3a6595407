import type { ColumnTypes } from './column-types.ts';

/**
 * Passkeys, and their challenges that were used. Wrong codes are counted by user from now on, because a user may have passkeys and no
 * one-time codes; `second_factors.wrong_codes` stays for processes of the former version.
 */
export function passkeys(t: ColumnTypes): string[] {
  return [
    `create table passkeys (
      seq ${t.seq},
      id ${t.uuid} not null constraint passkeys__id unique,
      user_id ${t.uuid} not null references users (id) on delete cascade,
      credential_id ${t.text} not null constraint passkeys__credential_id unique,
      public_key ${t.text} not null,
      counter ${t.integer} not null,
      transports ${t.text} not null,
      name ${t.text} not null,
      synced ${t.boolean} not null,
      last_used_at ${t.time},
      created_at ${t.time} not null
    )`,
    'create index passkeys_user on passkeys (user_id, seq)',

    `create table spent_passkey_challenges (
      challenge_hash ${t.text} primary key,
      expires_at ${t.time} not null
    )`,
    'create index spent_passkey_challenges_expiry on spent_passkey_challenges (expires_at)',

    // From now on, this column alone decides whether the password is enough.
    `update users set mfa_enabled = ${t.true} where mfa_enabled = ${t.false}
       and id in (select user_id from second_factors where confirmed_at is not null)`,
    `alter table users add column wrong_codes ${t.integer} not null default 0`,
    `update users set wrong_codes = second_factors.wrong_codes from second_factors
       where second_factors.user_id = users.id and second_factors.wrong_codes > 0`,
  ];
}
