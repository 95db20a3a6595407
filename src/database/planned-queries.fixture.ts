import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector } from 'kysely';
import { migratedPlace } from '../../test/database.ts';
import type { Queries } from './database.ts';
import { SQLITE_FILE } from './open.ts';
import { SqliteCompiler } from './sqlite-compiler.ts';

/** An empty SQLite database with the present schema, for plans. */
export async function openPlannedDatabase(): Promise<{ database: Sqlite.Database; remove(): Promise<void> }> {
  const place = await migratedPlace();
  const database = new Sqlite(join(place.settings.dataDir, SQLITE_FILE), { readonly: true });
  return {
    database,
    async remove() {
      database.close();
      await place.remove();
    },
  };
}

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
