import type Sqlite from 'better-sqlite3';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector } from 'kysely';
import type { Queries } from './database.ts';
import { SqliteCompiler } from './sqlite-compiler.ts';

/**
 * Queries that have no rows, and how SQLite would run each: the details of its steps, in order. It plans without statistics, so an empty
 * database shows it.
 */
export function plannedQueries(database: Sqlite.Database): { queries: Queries; plan: string[] } {
  const plan: string[] = [];
  const queries: Queries = new Kysely({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteCompiler(),
    },
    log({ query: { sql, parameters } }) {
      for (const row of database.prepare(`explain query plan ${sql}`).all(...parameters)) {
        plan.push(String(Object(row).detail));
      }
    },
  });
  return { queries, plan };
}
