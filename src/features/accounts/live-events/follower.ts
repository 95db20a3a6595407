import type { ChangeListener, DatabaseChange } from '../../../database/change-feed.ts';
import { type Rights, sees } from './rights.ts';

/** Intervals in milliseconds. */
export interface LiveTimes {
  /** Changes within this time are sent together, without duplicates. */
  gatherMs: number;
  /** Rights older than this are reloaded before they are applied. */
  rightsMs: number;
  /** Interval of checks that the session is still live. */
  sessionMs: number;
}

export const LIVE_TIMES: LiveTimes = { gatherMs: 100, rightsMs: 2_000, sessionMs: 5_000 };

/** Above this number of changes, one `resync` is sent instead. */
const MAX_GATHERED = 500;

/** Delay before the next attempt after the database failed. */
const DATABASE_RETRY_MS = 1_000;

/** Every follower gets the same object. */
const keys = new WeakMap<DatabaseChange, string>();

function keyOf(change: DatabaseChange): string {
  const known = keys.get(change) ?? JSON.stringify(change);
  keys.set(change, known);
  return known;
}

/** Receives the changes of one session. */
export interface LiveListener {
  changed(change: Pick<DatabaseChange, 'topic' | 'account_id' | 'install_id' | 'id'>): void;
  /** Changes may have been missed, so the client reloads everything. Always the first event. */
  resync(): void;
  /** The stream has ended. */
  ended(): void;
}

export interface FollowerParts {
  userId: string;
  listener: LiveListener;
  rights(): Promise<Rights>;
  /** Whether the session is still live and fully signed in. */
  isLive(): Promise<boolean>;
  times: LiveTimes;
}

/**
 * Filters the database's changes to those that one session may see. Rights are cached for `rightsMs`, so revoked access
 * ends within seconds.
 */
export function createFollower({
  userId,
  listener,
  rights: load,
  isLive,
  times,
}: FollowerParts): ChangeListener & { end(): void } {
  let gathered = new Map<string, DatabaseChange>();
  let missed = false;
  let mayHaveEnded = false;
  let rights: Rights | undefined;
  let rightsAt = Number.NEGATIVE_INFINITY;
  let flushTimer: NodeJS.Timeout | undefined;
  let over = false;
  const sessionCheck = setInterval(() => {
    mayHaveEnded = true;
    scheduleFlush();
  }, times.sessionMs).unref();

  function end(): void {
    if (over) return;
    over = true;
    clearInterval(sessionCheck);
    clearTimeout(flushTimer);
    gathered.clear();
    listener.ended();
  }

  function scheduleFlush(afterMs = times.gatherMs): void {
    if (!over) flushTimer ??= setTimeout(flush, afterMs).unref();
  }

  async function flush(): Promise<void> {
    let afterMs = times.gatherMs;
    try {
      await send();
    } catch {
      // The database is unavailable, which every other request reports.
      missed = true;
      afterMs = DATABASE_RETRY_MS;
    }
    flushTimer = undefined;
    if (missed || gathered.size > 0) scheduleFlush(afterMs);
  }

  async function send(): Promise<void> {
    const changes = gathered;
    gathered = new Map();
    if (mayHaveEnded) {
      if (!(await isLive())) return end();
      mayHaveEnded = false;
    }
    if (missed || (changes.size > 0 && performance.now() - rightsAt > times.rightsMs)) {
      rights = await load();
      rightsAt = performance.now();
    }
    if (over) return;
    if (missed) {
      missed = false;
      listener.resync();
      return;
    }
    for (const change of changes.values()) {
      const { topic, account_id, install_id, id } = change;
      if (rights && sees(rights, change)) listener.changed({ topic, account_id, install_id, id });
    }
  }

  return {
    changed(change) {
      if (change.topic === 'member' && change.user_id === userId) {
        // The user's own rights changed, so every list of theirs may differ.
        missed = true;
        mayHaveEnded = true;
      } else {
        if (rights && !rights.roles.has(change.account_id)) return;
        // The notifications of others. An outage makes one for each user of the account.
        if (change.topic === 'notification' && change.user_id !== userId) return;
        if (change.topic === 'account') mayHaveEnded = true;
        gathered.set(keyOf(change), change);
        if (gathered.size > MAX_GATHERED) missed = true;
        if (missed) gathered.clear();
      }
      scheduleFlush();
    },
    resync() {
      missed = true;
      scheduleFlush();
    },
    end,
  };
}
