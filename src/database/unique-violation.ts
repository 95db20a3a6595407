import Sqlite from 'better-sqlite3';
import pg from 'pg';

const UNIQUE_VIOLATION = '23505'; // PostgreSQL, appendix A

/**
 * The unique constraint violated by an error of either database, as `table.column` or `table.column, table.column`. Undefined for other
 * errors. PostgreSQL names the index, so indexes are called `table__column__column`.
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
