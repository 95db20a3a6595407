import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { OperatorError } from '../lib/operator-error.ts';
import type { Database, Queries } from './database.ts';
import { CHANGES_APPLICATION } from './postgres-changes.ts';

/**
 * An arbitrary number, unique among the advisory locks (lock.ts). Who changes the schema of PostgreSQL holds it, and processes that serve leave the
 * database meanwhile. It ends with its connection, so nothing is left by a process that is killed.
 */
const SCHEMA_CHANGE = 4_711_005;
/** For processes that serve, until they have left: they look every 2 s, and a stop takes 15 s at most. */
export const LEAVE_MS = 20_000;
/** Between two looks for processes that leave. */
const LOOK_MS = 200;

/**
 * Takes the lock for the session of `queries`, which has one connection without a time limit, once no other process holds it, and waits until the
 * processes that serve have left. Returns how many have not after `patienceMs`, because they hang, are lost, or are of a version before 0.3.
 */
export async function beginSchemaChange(queries: Queries, patienceMs: number): Promise<number> {
  await sql`select pg_advisory_lock(${sql.lit(SCHEMA_CHANGE)})`.execute(queries);
  const until = performance.now() + patienceMs;
  for (;;) {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and application_name = ${CHANGES_APPLICATION}`.execute(queries);
    if (rows.length === 0 || performance.now() > until) return rows.length;
    await sleep(LOOK_MS);
  }
}

/**
 * A schema without tables, in a database that is being put back. A lock would end with a process that is killed, and other programs would then
 * take a database without tables for a new one.
 */
const RETURN_MARK = sql.id('homeport_return');
const IS_RETURNING = sql`select 1 from pg_namespace where nspname = 'homeport_return'`;

/** Calls `putBack` with other programs kept away, also after a kill until this has been done again to its end. `queries` has the lock. */
export async function whileReturning(queries: Queries, putBack: () => Promise<void>): Promise<void> {
  await sql`create schema if not exists ${RETURN_MARK}`.execute(queries);
  await putBack();
  await sql`drop schema ${RETURN_MARK}`.execute(queries);
}

/** Whether a return to a former schema has begun and not ended. */
export async function isReturning(queries: Queries): Promise<boolean> {
  return (await IS_RETURNING.execute(queries)).rows.length > 0;
}

export const schemaIsChanging = (): OperatorError =>
  new OperatorError(
    'Another machine brings the database up to date, or puts it back. Run this again when that is done, with its version of Homeport.',
  );

/** Whether a process changes the schema, or has begun to put back a former one. SQLite has one writer, which waits. */
export async function isSchemaChanging({
  dialect,
  reader,
}: Pick<Database, 'dialect' | 'reader'>): Promise<boolean> {
  if (dialect === 'sqlite') return false;
  // The key of a lock with one number is in two halves of 32 bits.
  const { rows } = await sql`select 1 from pg_locks where locktype = 'advisory' and granted
    and classid = 0 and objid = ${sql.lit(SCHEMA_CHANGE)} and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())
    union all ${IS_RETURNING}`.execute(reader);
  return rows.length > 0;
}
