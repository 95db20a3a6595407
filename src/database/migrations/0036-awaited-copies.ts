import type { ColumnTypes } from './column-types.ts';

/** Installs that were created for a copy, which has not succeeded yet. */
export function awaitedCopies(t: ColumnTypes): string[] {
  return [`alter table installs add column awaits_copy ${t.boolean} not null default ${t.false}`];
}
