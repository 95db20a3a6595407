import { type RawBuilder, sql } from 'kysely';

/**
 * A column of text or ids as an expression, so that neither database looks for its value in an index. For conditions that nearly all
 * rows meet beside one that few meet: SQLite has no statistics, and would choose the index of the wrong one.
 */
export function withoutIndex(column: string): RawBuilder<string | null> {
  return sql<string | null>`${sql.ref(column)} || ''`;
}
