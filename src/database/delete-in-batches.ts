import type { Database, Queries } from './database.ts';

/** Rows deleted in one transaction of what may be much, so that nobody waits long for the writer. */
const BATCH = 500;

/**
 * Deletes until nothing is left to delete, and gives how many rows that were. `deleteBatch` deletes up to `limit` rows and gives how
 * many. Throws when `signal` is aborted.
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
