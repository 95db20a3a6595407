import type { ColumnTypes } from './column-types.ts';

/** The last look for releases of Homeport itself (docs/decisions/watching.md). */
export function releaseCheck(t: ColumnTypes): string[] {
  return [
    `create table release_check (
      one ${t.integer} primary key check (one = 1),
      checked_at ${t.time} not null,
      reason ${t.text},
      releases ${t.json} not null
    )`,
  ];
}
