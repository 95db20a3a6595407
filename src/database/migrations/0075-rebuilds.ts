import type { ColumnTypes } from './column-types.ts';

/** Rebuilds of installs whose host was lost. */
export function rebuilds(t: ColumnTypes): string[] {
  return [
    `create table rebuilds (
      seq ${t.seq},
      id ${t.uuid} not null constraint rebuilds__id unique,
      install_id ${t.uuid} not null,
      install_name ${t.text} not null,
      from_host ${t.uuid} not null,
      to_host ${t.uuid},
      step ${t.text} not null,
      job_id ${t.uuid} not null,
      backup_id ${t.uuid},
      backup_at ${t.time},
      reason ${t.text},
      lost_at ${t.time} not null,
      requested_at ${t.time} not null,
      finished_at ${t.time}
    )`,
    `create unique index rebuilds__install_id on rebuilds (install_id) where step in ('placing', 'restoring')`,
    'create index rebuilds_host on rebuilds (from_host, seq)',
  ];
}
