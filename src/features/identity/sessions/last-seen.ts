import type { Database } from '../../../database/database.ts';
import { createLastUses, minuteOf } from '../../../database/last-uses.ts';
import { noteLastSeen } from './store.ts';

/** When sessions were used last, to the minute; what is not yet in the database is in memory. */
export interface LastSeen {
  /** The later of what a row says and what this process knows. */
  of(session: { id: string; last_seen_at: string }): string;
  note(session: { id: string; last_seen_at: string }, now: Date): void;
  /** Writes down what is still in memory. */
  flush(): Promise<void>;
}

export function createLastSeen(database: Database, report: (error: unknown) => void): LastSeen {
  const uses = createLastUses(database, noteLastSeen, report);

  const of: LastSeen['of'] = ({ id, last_seen_at }) => {
    const used = uses.of(id);
    return used !== undefined && used > last_seen_at ? used : last_seen_at;
  };

  return {
    of,
    note(session, now) {
      const minute = minuteOf(now);
      if (of(session) < minute) uses.note(session.id, minute);
    },
    flush: uses.flush,
  };
}
