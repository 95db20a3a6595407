import type { ColumnTypes } from './column-types.ts';

/** Hosts that the operator gave up. */
export function lostHosts(t: ColumnTypes): string[] {
  return [`alter table hosts add column lost_at ${t.time}`];
}
