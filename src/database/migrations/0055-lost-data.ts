import type { ColumnTypes } from './column-types.ts';

/** The missing data of an install. Its host has closed the website to visitors because of it. */
export function lostData(t: ColumnTypes): string[] {
  return [`alter table installs add column lost_data ${t.text}`];
}
