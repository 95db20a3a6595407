import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Database } from './database.ts';
import { openPostgres } from './postgres.ts';
import type { QueryTrace } from './query-trace.ts';
import { openSqlite } from './sqlite.ts';

export const SQLITE_FILE = 'homeport.sqlite';

/** PostgreSQL if an address is configured, else a SQLite file in the data folder. */
export function openDatabase(
  settings: { databaseUrl: string | null; dataDir: string },
  log: Logger,
  trace?: QueryTrace,
): Database {
  return settings.databaseUrl === null
    ? openSqlite(join(settings.dataDir, SQLITE_FILE), log, { trace })
    : openPostgres(settings.databaseUrl, log, { trace });
}
