import type { ColumnTypes } from './column-types.ts';

/** The only data folder whose embedded host may serve the websites of this database. */
export function websitesFolder(t: ColumnTypes): string[] {
  return [
    `create table websites_folder (
      one ${t.integer} primary key check (one = 1),
      id ${t.uuid} not null,
      machine ${t.text} not null,
      path ${t.text} not null,
      claimed_at ${t.time} not null
    )`,
  ];
}
