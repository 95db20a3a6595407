import Sqlite from 'better-sqlite3';
import pg from 'pg';
import type { Logger } from 'pino';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { hasCode } from '../../lib/error-code.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { KNOWN_MIGRATIONS, migrate } from '../migrate.ts';
import { openPostgres, placeOf } from '../postgres.ts';
import { compareRows } from './compare-rows.ts';
import { copyRows } from './copy-rows.ts';
import { markMoved, unmarkMoved } from './moved-mark.ts';
import { countRows } from './source-rows.ts';
import { ONLY_IN_SQLITE, requireUnused, type TargetTable, targetTables } from './target-tables.ts';

/** Others write for moments. */
const WRITER_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 15_000;

export interface MoveOptions {
  log: Logger;
  clock: Clock;
  /** `rows` of `of` are copied, and then compared. */
  onProgress?: (step: 'copying' | 'comparing', rows: number, of: number) => void;
}

export interface MoveOutcome {
  rows: number;
  tables: number;
  /** Its address without user and password. */
  to: string;
}

/**
 * Moves the rows of a SQLite database with the current schema into a PostgreSQL database without rows, and compares each. Nobody writes to the
 * SQLite database meanwhile, and nobody can afterwards (moved-mark.ts); reading goes on. PostgreSQL gets all in one transaction, so
 * whatever ends this leaves the platform on SQLite. Throws OperatorError, DifferentRows.
 */
export async function moveToPostgres(file: string, url: string, options: MoveOptions): Promise<MoveOutcome> {
  const { log, clock, onProgress = () => {} } = options;
  await prepareTarget(url, log);
  const client = connection(url);
  const source = openSource(file);
  try {
    begin(source);
    await client.connect();
    await client.query('begin');
    // The role or the database may have limits.
    await client.query('set local statement_timeout = 0');
    await client.query('set local idle_in_transaction_session_timeout = 0');
    // And a commit that does not wait for the disk, while SQLite's mark does.
    await client.query('set local synchronous_commit = on');
    // Again, with others kept out: another platform may have been moved here meanwhile.
    await client.query('lock table users, accounts');
    await requireUnused(client, KNOWN_MIGRATIONS);
    const tables = await targetTables(client);
    requireSameTables(source, tables);
    const of = countRows(source, tables);
    await copyRows(source, client, tables, counting('copying', of, onProgress));
    await compareRows(source, client, tables, counting('comparing', of, onProgress));
    const to = placeOf(url);
    markMoved(source, { to, at: timestamp(clock) });
    // If this process ends between the two commits, both databases have all rows, and the platform stays on SQLite.
    await client.query('commit');
    source.exec('commit');
    return { rows: of, tables: tables.length, to };
  } finally {
    // Rolls back what is not committed.
    source.close();
    await client.end().catch(() => {});
  }
}

function counting(
  step: 'copying' | 'comparing',
  of: number,
  onProgress: NonNullable<MoveOptions['onProgress']>,
): (count: number) => void {
  let rows = 0;
  return (count) => {
    rows += count;
    onProgress(step, rows, of);
  };
}

/** Lets processes write to a SQLite database again that was moved. Throws OperatorError if it was not. */
export function cancelMove(file: string): { to: string } {
  const connection = openSource(file);
  try {
    begin(connection);
    const move = unmarkMoved(connection);
    if (move === null)
      throw new OperatorError('The database of this folder was not moved. There is nothing to cancel.');
    connection.exec('commit');
    return move;
  } finally {
    connection.close();
  }
}

/** Its commits survive a power cut. Otherwise SQLite could take changes afterwards again, which PostgreSQL would lack. */
function openSource(file: string): Sqlite.Database {
  const source = new Sqlite(file, { fileMustExist: true, timeout: WRITER_TIMEOUT_MS });
  source.pragma('synchronous = FULL');
  return source;
}

function begin(source: Sqlite.Database): void {
  try {
    source.exec('begin immediate');
  } catch (error) {
    if (!hasCode(error, 'SQLITE_BUSY')) throw error;
    throw new OperatorError(
      'Another command has been writing to the database for 30 s. Try again when it has ended.',
      { cause: error },
    );
  }
}

/** Gives the target the current schema. Throws OperatorError. */
async function prepareTarget(url: string, log: Logger): Promise<void> {
  const client = connection(url);
  try {
    await client.connect();
    await requireUnused(client, KNOWN_MIGRATIONS);
  } catch (error) {
    throw unusable(url, error, 'Start it, and check the address, the user and the password.');
  } finally {
    await client.end().catch(() => {});
  }
  const database = openPostgres(url, log);
  try {
    await migrate(database);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof pg.DatabaseError ? error.cause : error;
    // Since PostgreSQL 15, only the owner of a database may create tables in its schema "public".
    throw unusable(url, cause, 'Its user has to own the database: create it with "createdb --owner".');
  } finally {
    await database.close();
  }
}

function unusable(url: string, error: unknown, remedy: string): OperatorError {
  if (error instanceof OperatorError) return error;
  const reason = error instanceof Error && error.message !== '' ? error.message : String(error);
  return new OperatorError(`PostgreSQL at ${placeOf(url)} cannot be used: ${reason}. ${remedy}`, {
    cause: error,
  });
}

function connection(url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'homeport platform migrate',
  });
  // The running statement fails as well, and reports it.
  client.on('error', () => {});
  return client;
}

/** Guards against a table that only one of the databases has: its rows would be lost. */
function requireSameTables(source: Sqlite.Database, tables: readonly TargetTable[]): void {
  const stored = source
    .prepare<[], string>(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' and name not like 'kysely\\_%' escape '\\'",
    )
    .pluck()
    .all();
  const targets = new Set(tables.map(({ name }) => name));
  const lost = stored.filter((name) => !targets.has(name) && !ONLY_IN_SQLITE.has(name));
  if (lost.length > 0) throw new Error(`PostgreSQL has no tables for ${lost.join(', ')}`);
}
