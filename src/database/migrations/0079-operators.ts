import type { ColumnTypes } from './column-types.ts';

/** Users who are operators of the platform (docs/decisions/moves.md, "Operators"). */
export function operators(t: ColumnTypes): string[] {
  return [`alter table users add column is_operator ${t.boolean} not null default ${t.false}`];
}
