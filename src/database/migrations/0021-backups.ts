import { notifying, type Telling, writing } from './0005-change-feed.ts';
import type { ColumnTypes } from './column-types.ts';

/** Checkpoints, deletions and verifications of backups; archives for download; deferred WordPress upgrades. */
export function backups(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  return [
    `alter table backups add column checkpoint ${t.boolean} not null default ${t.false}`,
    `alter table backups add column deleting ${t.boolean} not null default ${t.false}`,
    `alter table backups add column wordpress_version ${t.text}`,
    `alter table backups add column verified_at ${t.time}`,
    // A backup is completed only after it was read back.
    `update backups set verified_at = finished_at where status = 'completed'`,
    `alter table installs add column defer_wordpress_until ${t.time}`,
    `create table archives (
      seq ${t.seq},
      id ${t.uuid} not null constraint archives__id unique,
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      backup_id ${t.uuid} not null,
      notification_emails ${t.json} not null,
      state ${t.text} not null check (state in ('requested', 'in_progress', 'completed', 'aborted')),
      bytes ${t.integer},
      sha256 ${t.text},
      reason ${t.text},
      requested_by ${t.uuid} references users (id) on delete set null,
      created_at ${t.time} not null,
      started_at ${t.time},
      finished_at ${t.time},
      expires_at ${t.time}
    )`,
    'create index archives_install on archives (install_id, seq)',
    'create index archives_expiry on archives (expires_at)',
    ...(dialect === 'postgres' ? notifying(told) : writing(told)),
  ];
}

/** The portal shows archives with their backups. */
const told: Telling = {
  topic: 'backup',
  table: 'archives',
  events: ['insert', 'update', 'delete'],
  what: 'select account_id, id, it.id, null from installs where id = it.install_id',
};
