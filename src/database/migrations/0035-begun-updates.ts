import type { ColumnTypes } from './column-types.ts';

/** When a host began to change the website, and whether a checkpoint was restored. */
export function begunUpdates(t: ColumnTypes): string[] {
  return [
    `alter table wordpress_updates add column begun_at ${t.time}`,
    `alter table wordpress_updates add column restored ${t.boolean} not null default ${t.false}`,
    // Their hosts did not report it.
    `update wordpress_updates set begun_at = created_at where status = 'running'`,
    `update wordpress_updates set restored = ${t.true} where status = 'rolled_back'`,
  ];
}
