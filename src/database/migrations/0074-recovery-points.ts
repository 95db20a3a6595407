import type { ColumnTypes } from './column-types.ts';

/** Snapshots of websites between their daily backups, and how far each website is covered by them. */
export function recoveryPoints(t: ColumnTypes): string[] {
  return [
    `create table recovery_points (
      seq ${t.seq},
      id ${t.uuid} not null constraint recovery_points__id unique,
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      taken_at ${t.time} not null,
      bytes ${t.integer} not null,
      files ${t.integer} not null,
      sha256 ${t.text} not null,
      wordpress_version ${t.text},
      deleting ${t.boolean} not null default ${t.false}
    )`,
    'create index recovery_points_install on recovery_points (install_id, seq)',
    `create table recovery_states (
      install_id ${t.uuid} primary key references installs (id) on delete cascade,
      mark ${t.text},
      covered_at ${t.time},
      tried_at ${t.time} not null,
      pruned_at ${t.time} not null,
      reason ${t.text}
    )`,
  ];
}
