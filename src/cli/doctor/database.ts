import { statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { pendingMigrations, schemaOfNewerProgram } from '../../database/migrate.ts';
import { openDatabase, SQLITE_FILE } from '../../database/open.ts';
import { placeOf } from '../../database/postgres.ts';
import { aboutMove, moveOf } from '../../database/to-postgres/moved-mark.ts';
import { codeOf } from '../../lib/error-code.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const CHECK = 'database';
const SCHEMA = 'schema';
/** The oldest that Homeport is tested with, as `server_version_num` counts. */
const OLDEST_POSTGRES = 130_000;

/** A database that answers, or null with the reason in the findings. */
export interface ExaminedDatabase {
  findings: Finding[];
  database: Database | null;
  /** Whether it has every table that this version knows. */
  current: boolean;
}

type Settings = Pick<Config, 'databaseUrl' | 'dataDir'>;

/** Opens the database without creating or migrating it. The caller closes it. */
export async function examineDatabase(settings: Settings, log: Logger): Promise<ExaminedDatabase> {
  let database: Database | undefined;
  try {
    const missing = settings.databaseUrl === null ? findMissing(join(settings.dataDir, SQLITE_FILE)) : null;
    if (missing !== null) return { findings: [missing], database: null, current: false };
    database = openDatabase(settings, log);
    await database.ping();
    const health =
      database.dialect === 'sqlite' ? await checkSqlite(database) : await checkPostgres(database);
    const schema = await checkSchema(database);
    return { findings: [health, schema], database, current: schema.state === 'ok' };
  } catch (error) {
    await database?.close();
    return { findings: [unusable(settings, error)], database: null, current: false };
  }
}

/** Opening a missing file would create it. */
function findMissing(file: string): Finding | null {
  try {
    statSync(file);
    return null;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error;
    return warning(
      CHECK,
      `${file} does not exist yet.`,
      'Start Homeport once ("homeport serve"), or name its folder in HOMEPORT_DATA_DIR.',
    );
  }
}

function unusable({ databaseUrl, dataDir }: Settings, error: unknown): Finding {
  const reason = reasonOf(error);
  return databaseUrl === null
    ? problem(
        CHECK,
        `${join(dataDir, SQLITE_FILE)} cannot be used: ${reason}.`,
        'Let this user read and write it; if it is damaged, restore the latest backup.',
      )
    : problem(
        CHECK,
        `PostgreSQL at ${placeOf(databaseUrl)} cannot be used: ${reason}.`,
        'Start it, and check address, user, password and name in HOMEPORT_DATABASE_URL.',
      );
}

async function checkSqlite(database: Database): Promise<Finding> {
  const move = await moveOf(database);
  if (move !== null) {
    const { message, remedy } = aboutMove(move);
    return problem(CHECK, message, remedy);
  }
  const { reader } = database;
  const version = await sql<{ version: string }>`select sqlite_version() as version`.execute(reader);
  const check = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(reader);
  const verdict = check.rows[0]?.quick_check ?? 'no answer';
  return verdict === 'ok'
    ? ok(CHECK, `SQLite ${version.rows[0]?.version} answers, and its file is intact.`)
    : problem(
        CHECK,
        `The SQLite file is damaged: ${reasonOf(verdict)}.`,
        'Stop Homeport, keep the damaged file, and restore the latest backup.',
      );
}

async function checkPostgres({ reader }: Database): Promise<Finding> {
  const { rows } = await sql<{
    version: string;
    number: number;
  }>`select current_setting('server_version') as version, current_setting('server_version_num')::bigint as number`.execute(
    reader,
  );
  const { version, number } = rows[0] ?? { version: 'of an unknown version', number: 0 };
  return number >= OLDEST_POSTGRES
    ? ok(CHECK, `PostgreSQL ${version} answers.`)
    : problem(CHECK, `PostgreSQL ${version} is too old.`, 'Upgrade it to 13 or newer.');
}

async function checkSchema(database: Database): Promise<Finding> {
  const newer = await schemaOfNewerProgram(database);
  if (newer !== null) return problem(SCHEMA, newer.message, newer.remedy);
  const pending = await pendingMigrations(database);
  return pending.length === 0
    ? ok(SCHEMA, 'Every migration has been applied.')
    : warning(
        SCHEMA,
        `Not yet applied: ${pending.join(', ')}.`,
        'Run "homeport migrate", or start this version of Homeport, which does the same.',
      );
}
