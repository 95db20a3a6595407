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
  const row = await (transaction.dialect === 'postgres' ? query.forUpdate() : query).executeTakeFirst();
  return row !== undefined;
}
