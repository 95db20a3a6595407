import type { ColumnTypes } from './column-types.ts';

/** The version of Homeport that migrated the database last: an older one names it when it refuses to run. */
export function programVersion(t: ColumnTypes): string[] {
  return [
    `create table program_version (
      one ${t.integer} primary key check (one = 1),
      version ${t.text} not null
    )`,
  ];
}
