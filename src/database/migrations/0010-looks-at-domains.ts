import type { ColumnTypes } from './column-types.ts';

/** Time of the platform's last automatic check of a domain's target. Kept apart from the domain, which an unchanged result must not update. */
export function looksAtDomains(t: ColumnTypes): string[] {
  return [
    `create table domain_looks (
      domain_id ${t.uuid} primary key references domains (id) on delete cascade,
      looked_at ${t.time} not null
    )`,
  ];
}
