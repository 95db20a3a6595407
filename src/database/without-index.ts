import { type RawBuilder, sql } from 'kysely';

/**
 * A number of a column for the order of a list, which neither database reads from an index. For rows that are few: they are found by their
 * values, and sorted. Otherwise SQLite, which has no statistics, would read all rows in their order.
 */
export const numberWithoutIndex = (column: string): RawBuilder<number> => sql<number>`+${sql.ref(column)}`;

/**
 * A condition: the column has this value. Neither database looks for the value in an index. For conditions that nearly all rows meet beside
 * one that few meet: SQLite has no statistics, and would choose the index of the wrong one. PostgreSQL knows how many rows have the value,
 * which it would not for an expression of the column.
 */
export function hasWithoutIndex(column: string, value: string | null): RawBuilder<boolean> {
  return sql<boolean>`not (${sql.ref(column)} is distinct from ${value})`;
}
