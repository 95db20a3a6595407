import type { ColumnTypes } from './column-types.ts';

/** The runtime of an install: null for those of before, which have WordPress on Linux hosts and files in the embedded host. */
export function installRuntimes(t: ColumnTypes): string[] {
  return [`alter table installs add column runtime ${t.text} check (runtime in ('wordpress', 'static'))`];
}
