import Sqlite from 'better-sqlite3';
import pg from 'pg';

const UNIQUE_VIOLATION = '23505'; // PostgreSQL, appendix A

/**
 * Which unique rule an error of either database speaks of, as `table.column` or `table.column, table.column`; or
 * undefined if the error is another one. PostgreSQL names the index, so ours are called `table__column__column`.
 */
export function uniqueViolation(error: unknown): string | undefined {
  if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT')) {
    return /^UNIQUE constraint failed: (.+)$/.exec(error.message)?.[1];
  }
  if (
    error instanceof pg.DatabaseError &&
    error.code === UNIQUE_VIOLATION &&
    error.constraint !== undefined
  ) {
    const [table, ...columns] = error.constraint.split('__');
    return columns.map((column) => `${table}.${column}`).join(', ');
  }
  return undefined;
}
