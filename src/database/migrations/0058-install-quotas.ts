import { type EventTrigger, eventTrigger } from './0025-event-triggers.ts';
import type { ColumnTypes } from './column-types.ts';

/** How far installs have used the limits of their files, as last measured. `threshold`: the percentage of the last warning; 0: none. */
export function installQuotas(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  return [
    `create table install_quotas (
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      limited ${t.text} not null check (limited in ('disk', 'files')),
      used ${t.integer} not null,
      allowed ${t.integer} not null,
      threshold ${t.integer} not null,
      measured_at ${t.time} not null,
      primary key (install_id, limited)
    )`,
    ...INSTALL_QUOTA_TRIGGERS.flatMap((trigger) => eventTrigger(trigger, t, dialect)),
  ];
}

const REACHED = {
  type: 'install.limit_reached',
  table: 'install_quotas',
  from: 'select id as install_id, account_id from installs where id = it.install_id',
  subject: 'it.install_id',
  data: { limited: 'it.limited', threshold: 'it.threshold', used: 'it.used', limit: 'it.allowed' },
} as const;

/** The event of a warning. A threshold that is left again has none. */
export const INSTALL_QUOTA_TRIGGERS: readonly EventTrigger[] = [
  { ...REACHED, on: 'insert', when: 'it.threshold > 0' },
  { ...REACHED, on: 'update', of: ['threshold'], when: 'it.threshold > old.threshold' },
];
