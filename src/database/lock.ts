import { sql } from 'kysely';
import type { Transaction } from './database.ts';

/**
 * Holds a row until the transaction ends, so that a rule checked now still holds at the commit. SQLite has one writer
 * and needs no lock. Returns whether the row is there.
 */
export async function lockRow(
  transaction: Transaction,
  table: 'accounts' | 'users' | 'sites' | 'installs',
  id: string,
): Promise<boolean> {
  const query = transaction.queries.selectFrom(table).select('seq').where('id', '=', id);
  const row = await (transaction.dialect === 'postgres' ? query.forNoKeyUpdate() : query).executeTakeFirst();
  return row !== undefined;
}

/** The same for a row that is to be deleted: until the transaction ends, nothing new can refer to it. */
export async function lockRowToDelete(transaction: Transaction, table: 'users', id: string): Promise<void> {
  if (transaction.dialect !== 'postgres') return;
  await transaction.queries.selectFrom(table).select('seq').where('id', '=', id).forUpdate().execute();
}

/**
 * Keeps a row from being deleted until the transaction ends, so that a new row can refer to it. Other transactions can still
 * change it. Returns whether the row is there.
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

/** An arbitrary number that no other use of advisory locks has. */
const HOST_NAMES = 4_711_001;

/**
 * Holds the right to add and release host names until the transaction ends. Names pass between installs, so two
 * transactions with the same names in another order would each wait for the other's rows. Taken before any row is
 * locked. Changes of names are rare enough to come one after the other.
 */
export async function lockHostNames({ dialect, queries }: Transaction): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${HOST_NAMES})`.execute(queries);
}

const VALIDATIONS = 4_711_002;

/** Holds the right to ask an authority for a validation, which is counted by the hour, until the transaction ends. */
export async function lockValidations({ dialect, queries }: Transaction): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${VALIDATIONS})`.execute(queries);
}

const PLACEMENT = 4_711_003;

/** Holds the right to put installs on hosts, whose room is counted, until the transaction ends. */
export async function lockPlacement({ dialect, queries }: Transaction): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${PLACEMENT})`.execute(queries);
}
