import type { ColumnTypes } from './column-types.ts';

/** Why an update ended, so that a repeated attempt gives the same reason. Null: an earlier version did not store it. */
export function updateCodes(t: ColumnTypes): string[] {
  return [`alter table wordpress_updates add column reason_code ${t.text}`];
}
