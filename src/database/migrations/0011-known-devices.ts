import type { ColumnTypes } from './column-types.ts';

/**
 * Browsers that completed a sign-in, whose failed attempts are counted separately. Also counts wrong codes after a correct password since
 * the last correct code.
 */
export function knownDevices(t: ColumnTypes): string[] {
  return [
    `create table known_devices (
      seq ${t.seq},
      id ${t.uuid} not null constraint known_devices__id unique,
      token_hash ${t.text} not null constraint known_devices__token_hash unique,
      user_id ${t.uuid} not null references users (id) on delete cascade,
      session_id ${t.uuid} not null,
      expires_at ${t.time} not null,
      created_at ${t.time} not null
    )`,
    'create index known_devices_user on known_devices (user_id, seq)',
    'create index known_devices_expiry on known_devices (expires_at)',

    `alter table second_factors add column wrong_codes ${t.integer} not null default 0`,
  ];
}
