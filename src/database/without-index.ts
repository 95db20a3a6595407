import { type RawBuilder, sql } from 'kysely';

/**
 * A condition: the column has this value. Neither database looks for the value in an index. For conditions that nearly all rows meet beside
 * one that few meet: SQLite has no statistics, and would choose the index of the wrong one. PostgreSQL knows how many rows have the value,
 * which it would not for an expression of the column.
 */
export function hasWithoutIndex(column: string, value: string | null): RawBuilder<boolean> {
  return sql<boolean>`not (${sql.ref(column)} is distinct from ${value})`;
}
