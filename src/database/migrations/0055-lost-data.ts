import type { ColumnTypes } from './column-types.ts';

/** The data that the host of an install misses, for which it has closed the website to visitors. */
export function lostData(t: ColumnTypes): string[] {
  return [`alter table installs add column lost_data ${t.text}`];
}
