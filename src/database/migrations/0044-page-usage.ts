import type { ColumnTypes } from './column-types.ts';

/** Pages by day: requests that asked the page cache, how many it answered, and their times together. */
export function pageUsage(t: ColumnTypes): string[] {
  return ['page_requests', 'page_hits', 'page_ms'].map(
    (column) => `alter table usage_traffic add column ${column} ${t.integer}`,
  );
}
