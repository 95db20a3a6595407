import { sql } from 'kysely';
import type { Database } from './database.ts';

/**
 * Names of the migrations that the database has, in order. Each start and each command asks, and Kysely's migrator would read the columns of
 * all tables to answer.
 */
export async function appliedMigrations({ dialect, reader }: Database): Promise<string[]> {
  const table =
    dialect === 'sqlite'
      ? sql`select 1 from sqlite_master where name = 'kysely_migration'`
      : sql`select 1 where to_regclass('kysely_migration') is not null`;
  if ((await table.execute(reader)).rows.length === 0) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(reader);
  return rows.map(({ name }) => name).sort();
}
