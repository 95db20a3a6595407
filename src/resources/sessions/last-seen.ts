import type { Database } from '../../database/database.ts';
import { minuteOf } from './lifetime.ts';
import { noteLastSeen } from './store.ts';

/** Uses are written down in batches, at most this late. */
const FLUSH_MS = 5_000;

/** When sessions were used last, to the minute; what is not yet in the database is in memory. */
export interface LastSeen {
  /** The later of what a row says and what this process knows. */
  of(session: { id: string; last_seen_at: string }): string;
  note(session: { id: string; last_seen_at: string }, now: Date): void;
  /** Writes down what is still in memory. */
  flush(): Promise<void>;
}

export function createLastSeen(database: Database, report: (error: unknown) => void): LastSeen {
  const uses = new Map<string, string>();
  let flushing: NodeJS.Timeout | undefined;

  const of: LastSeen['of'] = ({ id, last_seen_at }) => {
    const used = uses.get(id);
    return used !== undefined && used > last_seen_at ? used : last_seen_at;
  };

  async function flush(): Promise<void> {
    clearTimeout(flushing);
    flushing = undefined;
    const batch = [...uses];
    if (batch.length === 0) return;
    await database.write(async ({ queries }) => {
      for (const [id, minute] of batch) await noteLastSeen(queries, id, minute);
    });
    // Only now: what could not be written is written with the next batch.
    for (const [id, minute] of batch) if (uses.get(id) === minute) uses.delete(id);
  }

  return {
    of,
    note(session, now) {
      const minute = minuteOf(now);
      if (of(session) >= minute) return;
      uses.set(session.id, minute);
      flushing ??= setTimeout(() => {
        flush().catch(report);
      }, FLUSH_MS).unref();
    },
    flush,
  };
}
