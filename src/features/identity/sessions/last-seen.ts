import type { Database } from '../../../database/database.ts';
import { createLastUses, minuteOf } from '../../../database/last-uses.ts';
import { noteLastSeen } from './store.ts';

/** Last uses of sessions, to the minute. Recent ones are in memory until they are stored. */
export interface LastSeen {
  /** The last use: the stored one, or a later one in memory. */
  of(session: { id: string; last_seen_at: string }): string;
  note(session: { id: string; last_seen_at: string }, now: Date): void;
  /** Stores what is still in memory. */
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
