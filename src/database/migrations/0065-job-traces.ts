import type { ColumnTypes } from './column-types.ts';

/** The trace of the request that queued a job (docs/decisions/watching.md). */
export function jobTraces(t: ColumnTypes): string[] {
  return [`alter table jobs add column traceparent ${t.text}`];
}
