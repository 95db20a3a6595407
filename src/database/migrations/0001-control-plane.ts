import type { ColumnTypes } from './column-types.ts';

/**
 * Accounts, users, sites, installs, domains and jobs. Unique indexes are named `table__column__column`, so that violations are
 * recognised on both databases (unique-violation.ts).
 */
export function controlPlane(t: ColumnTypes): string[] {
  return [
    `create table accounts (
      seq ${t.seq},
      id ${t.uuid} not null constraint accounts__id unique,
      name ${t.text} not null,
      site_count ${t.integer} not null default 0 check (site_count >= 0),
      install_count ${t.integer} not null default 0 check (install_count >= 0),
      created_at ${t.time} not null
    )`,

    `create table users (
      seq ${t.seq},
      id ${t.uuid} not null constraint users__id unique,
      email ${t.text} not null,
      email_key ${t.text} not null constraint users__email_key unique,
      first_name ${t.text} not null,
      last_name ${t.text} not null,
      phone ${t.text},
      password_hash ${t.text},
      mfa_enabled ${t.boolean} not null default ${t.false},
      created_at ${t.time} not null
    )`,

    `create table memberships (
      seq ${t.seq},
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      user_id ${t.uuid} not null references users (id) on delete cascade,
      role ${t.text} not null check (role in ('owner', 'full', 'partial')),
      billing ${t.boolean} not null,
      invite_accepted ${t.boolean} not null,
      created_at ${t.time} not null,
      constraint memberships__account_id__user_id unique (account_id, user_id)
    )`,
    'create index memberships_user on memberships (user_id)',

    `create table invitations (
      token_hash ${t.text} primary key,
      account_id ${t.uuid} not null,
      user_id ${t.uuid} not null,
      expires_at ${t.time} not null,
      created_at ${t.time} not null,
      foreign key (account_id, user_id) references memberships (account_id, user_id) on delete cascade
    )`,
    'create index invitations_member on invitations (account_id, user_id)',

    `create table credentials (
      seq ${t.seq},
      id ${t.uuid} not null constraint credentials__id unique,
      user_id ${t.uuid} not null references users (id) on delete cascade,
      name ${t.text} not null,
      password_hash ${t.text} not null,
      expires_at ${t.time},
      revoked_at ${t.time},
      last_used_at ${t.time},
      created_at ${t.time} not null
    )`,
    'create index credentials_user on credentials (user_id)',

    `create table sites (
      seq ${t.seq},
      id ${t.uuid} not null constraint sites__id unique,
      account_id ${t.uuid} not null references accounts (id),
      name ${t.text} not null check (length(name) between 1 and 40),
      created_at ${t.time} not null,
      constraint sites__id__account_id unique (id, account_id)
    )`,
    'create index sites_account on sites (account_id, seq)',

    `create table installs (
      seq ${t.seq},
      id ${t.uuid} not null constraint installs__id unique,
      account_id ${t.uuid} not null references accounts (id),
      site_id ${t.uuid},
      environment ${t.text} check (environment in ('production', 'staging', 'development')),
      name ${t.text} not null constraint installs__name unique,
      status ${t.text} not null check (status in ('pending', 'active', 'failed')),
      php_version ${t.text},
      stable_ips ${t.json},
      offload_file_name ${t.text} not null,
      offload_file_content ${t.text} not null,
      created_at ${t.time} not null,
      foreign key (site_id, account_id) references sites (id, account_id),
      constraint installs__id__account_id unique (id, account_id),
      constraint installs__site_id__environment unique (site_id, environment)
    )`,
    'create index installs_account on installs (account_id, seq)',

    `create table install_grants (
      install_id ${t.uuid} not null,
      account_id ${t.uuid} not null,
      user_id ${t.uuid} not null,
      primary key (user_id, install_id),
      foreign key (install_id, account_id) references installs (id, account_id) on delete cascade,
      foreign key (account_id, user_id) references memberships (account_id, user_id) on delete cascade
    )`,
    'create index install_grants_install on install_grants (install_id)',
    'create index install_grants_member on install_grants (account_id, user_id)',

    `create table domains (
      seq ${t.seq},
      id ${t.uuid} not null constraint domains__id unique,
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      name ${t.text} not null,
      is_cname ${t.boolean} not null,
      is_primary ${t.boolean} not null,
      is_duplicate ${t.boolean} not null,
      redirect_to_id ${t.uuid},
      secure_all_urls ${t.boolean} not null default ${t.false},
      network_status ${t.text} not null default 'PENDING' check (network_status in ('PENDING', 'ACTIVE', 'FAILED')),
      ssl_status ${t.text} not null default 'none' check (ssl_status in ('pending', 'active', 'failed', 'none')),
      created_at ${t.time} not null,
      constraint domains__install_id__name unique (install_id, name),
      constraint domains__id__install_id unique (id, install_id),
      foreign key (redirect_to_id, install_id) references domains (id, install_id),
      check (not (is_primary and is_duplicate)),
      check (not (is_primary and redirect_to_id is not null)),
      check (not (is_primary and name like '*%')),
      check (redirect_to_id is null or redirect_to_id <> id)
    )`,
    `create unique index domains__name on domains (name) where not is_duplicate`,
    `create unique index domains__install_id on domains (install_id) where is_primary`,
    'create index domains_name on domains (name, seq)',
    'create index domains_redirect on domains (redirect_to_id)',

    `create table certificates (
      seq ${t.seq},
      domain_id ${t.uuid} not null constraint certificates__domain_id unique references domains (id) on delete cascade,
      source ${t.text} not null check (source in ('LETS_ENCRYPT', 'THIRD_PARTY', 'SELF_SIGNED')),
      chain ${t.text} not null,
      sealed_key ${t.text} not null,
      not_before ${t.time} not null,
      not_after ${t.time} not null,
      created_at ${t.time} not null
    )`,
    'create index certificates_expiry on certificates (not_after)',

    `create table offload_settings (
      install_id ${t.uuid} primary key references installs (id) on delete cascade,
      settings ${t.json},
      requested ${t.json} not null,
      state ${t.text} not null check (state in ('requested', 'in_force', 'refused')),
      reason ${t.text},
      updated_at ${t.time} not null
    )`,

    `create table backups (
      seq ${t.seq},
      id ${t.uuid} not null constraint backups__id unique,
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      description ${t.text} not null,
      notification_emails ${t.json} not null,
      status ${t.text} not null check (status in ('requested', 'in_progress', 'completed', 'aborted')),
      bytes ${t.integer},
      files ${t.integer},
      sha256 ${t.text},
      reason ${t.text},
      requested_by ${t.uuid} references users (id) on delete set null,
      created_at ${t.time} not null,
      finished_at ${t.time}
    )`,
    'create index backups_install on backups (install_id, seq)',

    `create table ssh_keys (
      seq ${t.seq},
      id ${t.uuid} not null constraint ssh_keys__id unique,
      user_id ${t.uuid} not null references users (id) on delete cascade,
      public_key ${t.text} not null,
      comment ${t.text} not null,
      fingerprint_md5 ${t.text} not null,
      fingerprint_sha256 ${t.text} not null,
      created_at ${t.time} not null,
      constraint ssh_keys__user_id__fingerprint_sha256 unique (user_id, fingerprint_sha256)
    )`,
    'create index ssh_keys_fingerprint on ssh_keys (fingerprint_sha256)',

    `create table domain_reports (
      seq ${t.seq},
      id ${t.uuid} not null constraint domain_reports__id unique,
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      domain_id ${t.uuid} not null,
      complete ${t.boolean} not null,
      report ${t.json} not null,
      created_at ${t.time} not null
    )`,
    'create index domain_reports_install on domain_reports (install_id)',
    'create index domain_reports_age on domain_reports (created_at)',

    `create table install_limits (
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      operation ${t.text} not null,
      next_at ${t.time} not null,
      primary key (install_id, operation)
    )`,

    `create table rate_windows (
      key ${t.text} primary key,
      window_start ${t.time} not null,
      taken ${t.integer} not null
    )`,
    'create index rate_windows_age on rate_windows (window_start)',

    `create table jobs (
      seq ${t.seq},
      id ${t.uuid} not null constraint jobs__id unique,
      kind ${t.text} not null,
      lane ${t.text},
      payload ${t.json} not null,
      state ${t.text} not null default 'queued'
        check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
      attempt ${t.integer} not null default 0,
      max_attempts ${t.integer} not null,
      run_at ${t.time} not null,
      lease_until ${t.time},
      worker_id ${t.uuid},
      error ${t.text},
      request_id ${t.text},
      created_at ${t.time} not null,
      started_at ${t.time},
      finished_at ${t.time}
    )`,
    `create unique index jobs__lane on jobs (lane) where state = 'running'`,
    `create index jobs_due on jobs (run_at, seq) where state = 'queued'`,
    `create index jobs_lane_order on jobs (lane, seq) where state in ('queued', 'running')`,
    `create index jobs_lease on jobs (lease_until) where state = 'running'`,
    `create index jobs_finished on jobs (finished_at) where state in ('succeeded', 'failed', 'cancelled')`,

    `create table workers (
      id ${t.uuid} primary key,
      process ${t.text} not null,
      seen_at ${t.time} not null
    )`,

    `create table schedule_runs (
      schedule ${t.text} not null,
      slot ${t.time} not null,
      primary key (schedule, slot)
    )`,
  ];
}
