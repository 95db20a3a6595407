import type { ColumnTypes } from './column-types.ts';

/** When the platform last looked by itself where a domain leads. Apart from the domain: a look that finds nothing new changes it not. */
export function looksAtDomains(t: ColumnTypes): string[] {
  return [
    `create table domain_looks (
      domain_id ${t.uuid} primary key references domains (id) on delete cascade,
      looked_at ${t.time} not null
    )`,
  ];
}
