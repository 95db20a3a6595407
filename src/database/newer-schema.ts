import { sql } from 'kysely';
import { PROGRAM_VERSION } from '../lib/program-version.ts';
import { appliedMigrations } from './applied-migrations.ts';
import type { Database } from './database.ts';

/** A database with migrations that this program does not know. */
export interface NewerSchema {
  /** One sentence that names both versions. */
  message: string;
  /** One sentence. */
  remedy: string;
}

/** Detects a database migrated by a newer program; null otherwise. `known`: names of this program's migrations. */
export async function newerSchema(database: Database, known: readonly string[]): Promise<NewerSchema | null> {
  const unknown = (await appliedMigrations(database)).filter((name) => !known.includes(name));
  if (unknown.length === 0) return null;
  const { reader } = database;
  const tables = await reader.introspection.getTables();
  const made = tables.some(({ name }) => name === 'program_version')
    ? await reader.selectFrom('program_version').select('version').executeTakeFirst()
    : undefined;
  // Copies of the sources between two releases do not know their commit.
  const isOther = made !== undefined && made.version !== PROGRAM_VERSION;
  const newer = isOther ? `Homeport ${made.version}` : 'another version of Homeport';
  return {
    message:
      `The database was brought up to date by ${newer} (${unknown.join(', ')}), ` +
      `and this is Homeport ${PROGRAM_VERSION}, which does not know that schema.`,
    remedy: `Run ${newer}${isOther ? ' or newer' : ''}, or restore the backup made before the upgrade.`,
  };
}

/** Statement that records this program's version; each migration runs it in its transaction. */
export const RECORD_VERSION = sql`insert into program_version (one, version) values (1, ${PROGRAM_VERSION})
  on conflict (one) do update set version = excluded.version`;
