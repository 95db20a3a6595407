import { sql } from 'kysely';
import type { Transaction } from './database.ts';

/**
 * Locks a row until the transaction ends, so that a rule checked now still holds at the commit. SQLite has one writer
 * and needs no lock. Returns whether the row exists.
 */
export async function lockRow(
  transaction: Transaction,
  table: 'accounts' | 'users' | 'sites' | 'installs' | 'deleted_installs' | 'webhooks',
  id: string,
): Promise<boolean> {
  const query = transaction.queries.selectFrom(table).select('seq').where('id', '=', id);
  const row = await (transaction.dialect === 'postgres' ? query.forNoKeyUpdate() : query).executeTakeFirst();
  return row !== undefined;
}

/**
 * Locks the present job of an operation and then the operation until the transaction ends, so that the operation keeps its state.
 * Workers end a job before they change its operation, so the opposite order would deadlock.
 */
export async function lockOperation({ dialect, queries }: Transaction, id: string): Promise<void> {
  if (dialect !== 'postgres') return;
  const operation = queries.selectFrom('operations').select('job_id').where('id', '=', id);
  let locked: string | undefined;
  for (;;) {
    const present = (await operation.executeTakeFirst())?.job_id;
    if (present === undefined || present === locked) break;
    await queries.selectFrom('jobs').select('seq').where('id', '=', present).forNoKeyUpdate().execute();
    // Another job may continue the operation since.
    locked = present;
  }
  await operation.forNoKeyUpdate().execute();
}

/** Locks a row for deletion: until the transaction ends, no new row can refer to it. */
export async function lockRowToDelete(transaction: Transaction, table: 'users', id: string): Promise<void> {
  if (transaction.dialect !== 'postgres') return;
  await transaction.queries.selectFrom(table).select('seq').where('id', '=', id).forUpdate().execute();
}

/**
 * Keeps a row from being deleted until the transaction ends, so that a new row can refer to it. Other transactions can still change it. Returns whether the row exists.
 */
export async function keepRow(
  { dialect, queries }: Transaction,
  table: 'domains',
  id: string,
): Promise<boolean> {
  const query = queries.selectFrom(table).select('seq').where('id', '=', id);
  const row = await (dialect === 'postgres' ? query.forKeyShare() : query).executeTakeFirst();
  return row !== undefined;
}

/** An arbitrary number, unique among the advisory locks. */
const HOST_NAMES = 4_711_001;

/**
 * Serializes adding and releasing host names until the transaction ends. Names move between installs, so two transactions with the same
 * names in different order would deadlock. Take this lock before any row lock. Name changes are rare enough to run one after the other.
 */
export async function lockHostNames({ dialect, queries }: Transaction): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${HOST_NAMES})`.execute(queries);
}

const VALIDATIONS = 4_711_002;

/** Serializes validation requests to an authority until the transaction ends, because they are counted per hour. */
export async function lockValidations({ dialect, queries }: Transaction): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${VALIDATIONS})`.execute(queries);
}

const PLACEMENT = 4_711_003;

/** Serializes placing installs on hosts until the transaction ends, because their capacity is counted. */
export async function lockPlacement({ dialect, queries }: Transaction): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${PLACEMENT})`.execute(queries);
}

const TAGS = 4_711_004;

/**
 * Serializes changes of tags until the transaction ends, because a site gets the spelling of the others and the tags of an account are
 * counted. Take this lock before any row lock.
 */
export async function lockTags({ dialect, queries }: Transaction): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${TAGS})`.execute(queries);
}
