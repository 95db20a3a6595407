import type { ColumnTypes } from './column-types.ts';

/** The version of Homeport that last migrated the database. An older version names it when it refuses to run. */
export function programVersion(t: ColumnTypes): string[] {
  return [
    `create table program_version (
      one ${t.integer} primary key check (one = 1),
      version ${t.text} not null
    )`,
  ];
}
