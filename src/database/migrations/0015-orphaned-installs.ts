import type { ColumnTypes } from './column-types.ts';

/** The platform's id for its hosts, and installs on hosts that the platform does not know. */
export function orphanedInstalls(t: ColumnTypes): string[] {
  return [
    `create table platform_identity (
      one ${t.integer} primary key check (one = 1),
      id ${t.uuid} not null
    )`,
    `create table orphaned_installs (
      host ${t.text} not null,
      id ${t.uuid} not null,
      name ${t.text},
      hostnames ${t.json} not null,
      is_served ${t.boolean} not null,
      found_at ${t.time} not null,
      primary key (host, id)
    )`,
  ];
}
