import { MINUTE_MS } from '../lib/durations.ts';
import type { Database, Queries } from './database.ts';

/** Uses are written in batches, at most this late. */
const FLUSH_MS = 5_000;

/** Last-use times of rows, to the minute. Unwritten uses are kept in memory, so that a use costs no transaction. */
export interface LastUses {
  /** The last use not yet in the database. */
  of(id: string): string | undefined;
  /** `minute`: from {@link minuteOf}. */
  note(id: string, minute: string): void;
  /** Writes the uses that are still in memory. */
  flush(): Promise<void>;
}

/**
 * `write` stores one use in its row, unless another process has stored a later one. `report` gets the error of a failed batch, which is
 * retried with the next.
 */
export function createLastUses(
  database: Database,
  write: (queries: Queries, id: string, minute: string) => Promise<void>,
  report: (error: unknown) => void,
): LastUses {
  const uses = new Map<string, string>();
  let flushing: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(flushing);
    flushing = undefined;
    const batch = [...uses];
    if (batch.length === 0) return;
    await database.write(async ({ queries }) => {
      for (const [id, minute] of batch) await write(queries, id, minute);
    });
    // Only now: failed writes are retried with the next batch.
    for (const [id, minute] of batch) if (uses.get(id) === minute) uses.delete(id);
  }

  return {
    of: (id) => uses.get(id),
    note(id, minute) {
      uses.set(id, minute);
      flushing ??= setTimeout(() => {
        flush().catch(report);
      }, FLUSH_MS).unref();
    },
    flush,
  };
}

/** A time without its seconds, ISO 8601. */
export function minuteOf(time: Date): string {
  return new Date(time.getTime() - (time.getTime() % MINUTE_MS)).toISOString();
}
