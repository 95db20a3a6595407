import type { ColumnTypes } from './column-types.ts';

/** Labels of hosts, and those that an account wants of the hosts of its installs (docs/decisions/linux-host.md, "Placement"). */
export function hostLabels(t: ColumnTypes): string[] {
  return [
    `alter table hosts add column labels ${t.json} not null default '[]'`,
    `alter table hosts add column reserved ${t.boolean} not null default ${t.false}`,
    `alter table accounts add column host_labels ${t.json} not null default '[]'`,
  ];
}
