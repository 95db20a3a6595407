import { type EventTrigger, eventTrigger } from './0025-event-triggers.ts';
import type { ColumnTypes } from './column-types.ts';

/** Backups that their host does not hold any more, and hosts whose backups have moved. */
export function missingBackups(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  return [
    `alter table backups add column missing_since ${t.time}`,
    'create index backups_missing on backups (install_id) where missing_since is not null',
    `alter table hosts add column backups_moved_at ${t.time}`,
    ...MISSING_TRIGGERS.flatMap((trigger) => eventTrigger(trigger, t, dialect)),
  ];
}

const OF_BACKUP = {
  table: 'backups',
  on: 'update',
  of: ['missing_since'],
  from: 'select id as install_id, account_id from installs where id = it.install_id',
  subject: 'it.id',
  data: { backup_id: 'it.id', status: 'it.status' },
} as const;

/** Events of backups, besides those of migration 0025. */
export const MISSING_TRIGGERS: readonly EventTrigger[] = [
  { ...OF_BACKUP, type: 'backup.missing', when: 'it.copy_job_id is null and it.missing_since is not null' },
  { ...OF_BACKUP, type: 'backup.found', when: 'it.copy_job_id is null and it.missing_since is null' },
];
