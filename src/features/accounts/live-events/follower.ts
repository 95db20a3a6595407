import type { ChangeListener, DatabaseChange } from '../../../database/change-feed.ts';
import { type Rights, sees } from './rights.ts';

/** How long things may take, in milliseconds. */
export interface LiveTimes {
  /** Changes of so long go out together, each once. */
  gatherMs: number;
  /** Rights looked up longer ago are looked up again before they decide. */
  rightsMs: number;
  /** How often it is asked whether the session still lives. */
  sessionMs: number;
}

export const LIVE_TIMES: LiveTimes = { gatherMs: 100, rightsMs: 2_000, sessionMs: 5_000 };

/** More that was gathered is not told one by one. */
const GATHERED_AT_MOST = 500;

/** Until a database that was away is asked again. */
const AWAY_MS = 1_000;

/** What one listener is told. */
export interface LiveListener {
  changed(change: Pick<DatabaseChange, 'topic' | 'account_id' | 'install_id' | 'id'>): void;
  /** Some may have been missed: whoever listens looks at everything again. Comes first. */
  resync(): void;
  /** Nothing comes after. */
  ended(): void;
}

export interface FollowerParts {
  userId: string;
  listener: LiveListener;
  rights(): Promise<Rights>;
  /** Whether the session still lets its person in. */
  isLive(): Promise<boolean>;
  times: LiveTimes;
}

/**
 * Turns the database's changes into those that one session may see. What it may see is asked of the database, seldom enough to cost
 * nothing and often enough that nobody sees for more than moments what was taken from them.
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
  let telling: NodeJS.Timeout | undefined;
  let over = false;
  const looking = setInterval(() => {
    mayHaveEnded = true;
    tellSoon();
  }, times.sessionMs).unref();

  function end(): void {
    if (over) return;
    over = true;
    clearInterval(looking);
    clearTimeout(telling);
    gathered.clear();
    listener.ended();
  }

  function tellSoon(afterMs = times.gatherMs): void {
    if (!over) telling ??= setTimeout(tell, afterMs).unref();
  }

  async function tell(): Promise<void> {
    let afterMs = times.gatherMs;
    try {
      await tellNow();
    } catch {
      // The database is away for the moment, as everybody will be told who asks it for anything.
      missed = true;
      afterMs = AWAY_MS;
    }
    telling = undefined;
    if (missed || gathered.size > 0) tellSoon(afterMs);
  }

  async function tellNow(): Promise<void> {
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
        // What they may see is another from now on: no list of theirs is what it was.
        missed = true;
        mayHaveEnded = true;
      } else {
        if (rights && !rights.roles.has(change.account_id)) return;
        if (change.topic === 'account') mayHaveEnded = true;
        gathered.set(JSON.stringify(change), change);
        if (gathered.size > GATHERED_AT_MOST) missed = true;
        if (missed) gathered.clear();
      }
      tellSoon();
    },
    resync() {
      missed = true;
      tellSoon();
    },
    end,
  };
}
