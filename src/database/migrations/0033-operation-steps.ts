import type { ColumnTypes } from './column-types.ts';

/** The progress of an operation names its step, such as `unpack`. */
export function operationSteps(t: ColumnTypes): string[] {
  return [`alter table operations add column progress_step ${t.text}`];
}
