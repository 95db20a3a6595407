import type { ColumnTypes } from './column-types.ts';

/** Portal sign-in (sessions, second factors, password links), scoped credentials and the activity log. */
export function portal(t: ColumnTypes): string[] {
  return [
    `alter table accounts add column requires_second_factor ${t.boolean} not null default ${t.false}`,

    `alter table memberships add column invited_first_name ${t.text}`,
    `alter table memberships add column invited_last_name ${t.text}`,

    `create table second_factors (
      user_id ${t.uuid} primary key references users (id) on delete cascade,
      sealed_secret ${t.text} not null,
      confirmed_at ${t.time},
      last_step ${t.integer},
      created_at ${t.time} not null
    )`,
    `create table recovery_codes (
      user_id ${t.uuid} not null references users (id) on delete cascade,
      code_hash ${t.text} not null,
      used_at ${t.time},
      primary key (user_id, code_hash)
    )`,

    `create table sessions (
      seq ${t.seq},
      id ${t.uuid} not null constraint sessions__id unique,
      token_hash ${t.text} not null constraint sessions__token_hash unique,
      user_id ${t.uuid} not null references users (id) on delete cascade,
      awaits_second_factor ${t.boolean} not null,
      wrong_codes ${t.integer} not null default 0,
      address ${t.text} not null,
      user_agent ${t.text},
      last_seen_at ${t.time} not null,
      expires_at ${t.time} not null,
      created_at ${t.time} not null
    )`,
    'create index sessions_user on sessions (user_id, seq)',
    'create index sessions_expiry on sessions (expires_at)',

    `create table password_links (
      token_hash ${t.text} primary key,
      user_id ${t.uuid} not null references users (id) on delete cascade,
      purpose ${t.text} not null check (purpose in ('first', 'reset')),
      expires_at ${t.time} not null,
      created_at ${t.time} not null
    )`,
    'create index password_links_user on password_links (user_id)',

    `alter table credentials add column read_only ${t.boolean} not null default ${t.false}`,
    `alter table credentials add column account_id ${t.uuid} references accounts (id) on delete cascade`,
    `alter table credentials add column install_ids ${t.json}`,

    `create table activity (
      seq ${t.seq},
      id ${t.uuid} not null constraint activity__id unique,
      account_id ${t.uuid} references accounts (id) on delete cascade,
      at ${t.time} not null,
      action ${t.text} not null,
      subject_id ${t.uuid},
      subject_name ${t.text} not null,
      install_id ${t.uuid},
      details ${t.json},
      user_id ${t.uuid},
      user_name ${t.text} not null,
      means ${t.text} not null check (means in ('api', 'portal', 'command_line', 'platform')),
      credential_id ${t.uuid},
      credential_name ${t.text},
      address ${t.text},
      request_id ${t.text}
    )`,
    'create index activity_account on activity (account_id, seq)',
    'create index activity_age on activity (at)',

    `alter table jobs add column reason ${t.text}`,
    `create index jobs_lane_finished on jobs (lane, seq)
      where lane is not null and state in ('succeeded', 'failed', 'cancelled')`,
  ];
}
