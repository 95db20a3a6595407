import type { ColumnTypes } from './column-types.ts';

/** The machines that run websites, the placement of installs, and columns for daily backups. */
export function hosts(t: ColumnTypes): string[] {
  return [
    `create table hosts (
      seq ${t.seq},
      id ${t.uuid} not null constraint hosts__id unique,
      name ${t.text} not null constraint hosts__name unique,
      address ${t.text} not null,
      accepting ${t.boolean} not null default ${t.true},
      description ${t.json},
      seen_at ${t.time},
      reason ${t.text},
      created_at ${t.time} not null
    )`,

    `create table host_authority (
      one ${t.integer} primary key check (one = 1),
      certificate ${t.text} not null,
      sealed_key ${t.text} not null,
      client_certificate ${t.text} not null,
      sealed_client_key ${t.text} not null,
      created_at ${t.time} not null
    )`,

    `alter table installs add column host_id ${t.uuid} references hosts (id)`,
    `alter table installs add column wordpress_version ${t.text}`,
    'create index installs_host on installs (host_id)',

    `alter table backups add column scheduled ${t.boolean} not null default ${t.false}`,

    `create table restore_checks (
      seq ${t.seq},
      id ${t.uuid} not null constraint restore_checks__id unique,
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      backup_id ${t.uuid} not null references backups (id) on delete cascade,
      took_ms ${t.integer} not null,
      reason ${t.text},
      created_at ${t.time} not null
    )`,
    'create index restore_checks_install on restore_checks (install_id)',
    'create index restore_checks_backup on restore_checks (backup_id)',
  ];
}
