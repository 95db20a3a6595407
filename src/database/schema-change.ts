import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, Queries } from './database.ts';
import { CHANGES_APPLICATION } from './postgres-changes.ts';

/**
 * An arbitrary number, unique among the advisory locks (lock.ts). Who changes the schema of PostgreSQL holds it, and processes that serve leave the
 * database meanwhile. It ends with its connection, so nothing is left by a process that is killed.
 */
const SCHEMA_CHANGE = 4_711_005;
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

/** Whether a process changes the schema, or puts back a former one. SQLite has one writer, which waits. */
export async function isSchemaChanging({
  dialect,
  reader,
}: Pick<Database, 'dialect' | 'reader'>): Promise<boolean> {
  if (dialect === 'sqlite') return false;
  // The key of a lock with one number is in two halves of 32 bits.
  const { rows } = await sql`select 1 from pg_locks where locktype = 'advisory' and granted
    and classid = 0 and objid = ${sql.lit(SCHEMA_CHANGE)} and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())`.execute(reader);
  return rows.length > 0;
}
