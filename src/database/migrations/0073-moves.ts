import type { ColumnTypes } from './column-types.ts';

/** Moves of installs between machines. */
export function moves(t: ColumnTypes): string[] {
  return [
    `create table moves (
      seq ${t.seq},
      id ${t.uuid} not null constraint moves__id unique,
      install_id ${t.uuid} not null,
      install_name ${t.text} not null,
      from_host ${t.uuid} not null,
      to_host ${t.uuid} not null,
      step ${t.text} not null,
      job_id ${t.uuid} not null,
      reason ${t.text},
      requested_at ${t.time} not null,
      switched_at ${t.time},
      cleared_at ${t.time}
    )`,
    `create unique index moves__install_id on moves (install_id) where step in ('copying', 'handing_over', 'switched')`,
    'create index moves_install on moves (install_id, seq)',
    'create index moves_uncleared on moves (install_id) where cleared_at is null',
  ];
}
