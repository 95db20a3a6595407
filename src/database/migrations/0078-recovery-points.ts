import type { ColumnTypes } from './column-types.ts';

/** Snapshots of websites between their daily backups, and how far each website is covered by them. */
export function recoveryPoints(t: ColumnTypes): string[] {
  return [
    `create table recovery_points (
      seq ${t.seq},
      id ${t.uuid} not null constraint recovery_points__id unique,
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      base_id ${t.uuid},
      taken_at ${t.time} not null,
      bytes ${t.integer} not null
    )`,
    'create index recovery_points_install on recovery_points (install_id, seq)',
    `create table recovery_states (
      install_id ${t.uuid} primary key references installs (id) on delete cascade,
      install_seq ${t.integer} not null constraint recovery_states__install_seq unique,
      due_at ${t.time} not null,
      mark ${t.text},
      covered_at ${t.time},
      reason ${t.text}
    )`,
    'create index recovery_states_due on recovery_states (due_at)',
  ];
}
