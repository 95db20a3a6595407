import type { ColumnTypes } from './column-types.ts';

/** Backups of the platform itself: time, destination and result. */
export function platformBackups(t: ColumnTypes): string[] {
  return [
    `create table platform_backups (
      seq ${t.seq},
      name ${t.text} not null,
      destination ${t.text} not null,
      started_at ${t.time} not null,
      finished_at ${t.time},
      bytes ${t.integer},
      missing_websites ${t.integer} not null default 0,
      error ${t.text}
    )`,
  ];
}
