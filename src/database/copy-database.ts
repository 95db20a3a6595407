import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Queries } from './database.ts';
import { SQLITE_FILE } from './open.ts';
import { dumpPostgres, faultOfDump } from './postgres-dump.ts';
import { copySqlite, faultOfSqliteFile } from './sqlite-copy.ts';

export interface DatabaseCopyOptions {
  log: Logger;
  signal?: AbortSignal | undefined;
}

/** Copies a consistent snapshot of the configured database into a new file while others write. `look` reads the same snapshot. */
export async function copyDatabase<Seen>(
  { databaseUrl, dataDir }: { databaseUrl: string | null; dataDir: string },
  to: string,
  look: (queries: Queries) => Promise<Seen>,
  { log, signal }: DatabaseCopyOptions,
): Promise<Seen> {
  return databaseUrl === null
    ? copySqlite(join(dataDir, SQLITE_FILE), to, look, { signal })
    : dumpPostgres(databaseUrl, to, look, { log, signal });
}

/** The fault of such a copy; null if it can be restored. */
export async function faultOfCopy(
  dialect: 'sqlite' | 'postgres',
  file: string,
  signal?: AbortSignal,
): Promise<string | null> {
  return dialect === 'sqlite' ? faultOfSqliteFile(file) : faultOfDump(file, signal);
}
