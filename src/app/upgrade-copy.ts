import { existsSync } from 'node:fs';
import { link, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { appliedMigrations } from '../database/applied-migrations.ts';
import { copyDatabase } from '../database/copy-database.ts';
import { KNOWN_MIGRATIONS } from '../database/migrate.ts';
import { openDatabase, SQLITE_FILE } from '../database/open.ts';
import { restorePostgres } from '../database/postgres-dump.ts';
import { beginSchemaChange, isReturning, LEAVE_MS, whileReturning } from '../database/schema-change.ts';
import { withoutWal } from '../database/sqlite-copy.ts';
import { syncFolder } from '../lib/durable-file.ts';
import { ifThere } from '../lib/if-there.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { type Announce, MAY_TAKE_LONG } from '../lib/start-steps.ts';
import { isNoRoom } from '../platform-backup/no-room.ts';

type DatabaseConfig = Pick<Config, 'dataDir' | 'databaseUrl'>;

/**
 * Files by which `homeport upgrade` asks the starting server, in a folder of the data folder. The server alone touches the database, because
 * only one runs at a time (docs/decisions/releases.md).
 */
export function upgradeFiles({ dataDir }: Pick<Config, 'dataDir'>) {
  const folder = join(dataDir, 'upgrade');
  return {
    folder,
    /** Asks for a copy before the next migration. */
    wanted: join(folder, 'copy-wanted'),
    copy: join(folder, 'database'),
    /** A server was ready after the copy was made, so a return loses what it has written since. */
    served: join(folder, 'served'),
    /** Asks a version, by its newest migration, to put the copy back. */
    returnTo: join(folder, 'return-to'),
    /** After a return: the database of the newer version. */
    newer: join(folder, 'newer.sqlite'),
  };
}

/** The newest migration of this program. It names a version in {@link upgradeFiles}. */
export const OWN_SCHEMA = KNOWN_MIGRATIONS.at(-1) ?? '';

/** Copies the database if an upgrade wants that. Called after the last write and before the migration. */
export async function copyBeforeMigration(config: DatabaseConfig, log: Logger): Promise<void> {
  const files = upgradeFiles(config);
  if (!existsSync(files.wanted)) return;
  const unfinished = `${files.copy}.part`;
  await rm(unfinished, { force: true });
  await rm(files.served, { force: true });
  try {
    await copyDatabase(config, unfinished, async () => {}, { log });
  } catch (error) {
    await rm(unfinished, { force: true });
    if (!isNoRoom(error)) throw error;
    throw new OperatorError(
      `There is no room in ${files.folder} for the copy of the database that an upgrade needs. Make room, and start again.`,
      { cause: error },
    );
  }
  const file = await open(unfinished, 'r');
  await file.sync().finally(() => file.close());
  await rename(unfinished, files.copy);
  await syncFolder(files.folder);
}

/** Notes that a server is ready, if an upgrade could return to a copy. */
export async function noteServed(config: Pick<Config, 'dataDir'>, log: Logger): Promise<void> {
  const { copy, served } = upgradeFiles(config);
  if (!existsSync(copy)) return;
  await writeFile(served, '', { mode: 0o600 }).catch((err: unknown) =>
    log.warn(
      { err },
      'if the upgrade was interrupted, the next "homeport upgrade" cannot know that this version was ready',
    ),
  );
}

/** Keeps commands from the database during an upgrade, because the server of the former version may still write. Throws OperatorError. */
export function requireNoUpgrade(
  config: Pick<Config, 'dataDir'>,
  requests: readonly ('wanted' | 'returnTo')[],
): void {
  const files = upgradeFiles(config);
  if (!requests.some((request) => existsSync(files[request]))) return;
  throw new OperatorError(
    'An upgrade is under way, and the server has to bring the database up to date first. Run this again when the server is ready. ' +
      'If no upgrade runs any more, run "homeport upgrade" again, or start the server.',
  );
}

/**
 * Puts the database back if an upgrade has failed and this is the former version. A newer version refuses to run meanwhile, and a kill at any
 * time leaves the database of one of the versions, and this to do again.
 */
export async function returnDatabase(
  config: DatabaseConfig,
  log: Logger,
  announce?: Announce,
): Promise<void> {
  const files = upgradeFiles(config);
  const schema = await ifThere(readFile(files.returnTo, 'utf8'));
  if (schema === null) return;
  if (schema.trim() !== OWN_SCHEMA) {
    throw new OperatorError(
      'The upgrade to this version has failed, and "homeport upgrade" returns to the former one. Run it again if it was interrupted.',
    );
  }
  if (existsSync(files.copy) && !(await isOwn(config, log))) {
    await announce?.(`Putting the database back ${MAY_TAKE_LONG}`);
    if (config.databaseUrl === null) await returnSqlite(join(config.dataDir, SQLITE_FILE), files);
    else await returnPostgres(config, config.databaseUrl, files.copy, log);
    await syncFolder(config.dataDir);
    log.warn('the database is that from before the failed upgrade');
  }
  // The notes are about the newer version, and this one may serve before its package is installed.
  for (const file of [files.served, files.copy]) await rm(file, { force: true });
  await rm(files.returnTo);
}

/** False also for a database that an interrupted return has left on PostgreSQL. */
async function isOwn(config: DatabaseConfig, log: Logger): Promise<boolean> {
  const database = openDatabase(config, log);
  try {
    if (database.dialect === 'postgres' && (await isReturning(database.reader))) return false;
    return isDeepStrictEqual(await appliedMigrations(database), KNOWN_MIGRATIONS);
  } finally {
    await database.close();
  }
}

async function returnSqlite(file: string, { copy, newer }: { copy: string; newer: string }): Promise<void> {
  // A write-ahead log would be applied to the copy.
  withoutWal(file);
  await rm(newer, { force: true });
  await link(file, newer);
  await rename(copy, file);
}

async function returnPostgres(config: DatabaseConfig, url: string, copy: string, log: Logger): Promise<void> {
  const database = openDatabase(config, log);
  try {
    await database.withoutTimeLimit(async (queries) => {
      await beginSchemaChange(queries, LEAVE_MS);
      await whileReturning(queries, async () => {
        await sql`drop schema if exists public cascade`.execute(queries);
        await sql`create schema public`.execute(queries);
        await restorePostgres(url, copy, { log });
      });
    });
  } finally {
    await database.close();
  }
}
