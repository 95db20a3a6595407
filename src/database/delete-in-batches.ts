import type { Database, Queries } from './database.ts';

/** Rows deleted per transaction, so that other transactions do not wait long for the writer. */
const BATCH = 500;

/**
 * Deletes in batches until nothing is left and returns the number of deleted rows. `deleteBatch` deletes up to `limit` rows and returns
 * their number. Throws when `signal` is aborted.
 */
export async function deleteInBatches(
  database: Database,
  signal: AbortSignal,
  deleteBatch: (queries: Queries, limit: number) => Promise<number>,
): Promise<number> {
  let total = 0;
  for (;;) {
    signal.throwIfAborted();
    const batch = await database.write(({ queries }) => deleteBatch(queries, BATCH));
    total += batch;
    if (batch < BATCH) return total;
  }
}
