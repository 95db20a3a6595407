import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { type Backoff, restartDelay } from '../machine/backoff.ts';

/** A part of the machine, or a website, that has failed to start and is tried again. */
export interface LateStart {
  /** For people: `the website shop`. */
  name: string;
  /** Why the last attempt failed. */
  reason: string;
  since: Date;
}

export interface LateStarts {
  /**
   * Runs `start` now and, for as long as it fails, again with backoff. Resolves after the first attempt, and never rejects.
   * `key` names it in {@link waiting}.
   */
  begin(key: string, name: string, start: () => Promise<void>): Promise<void>;
  /** Gives up: what it was to start is gone. */
  forget(key: string): void;
  /** All that have not started yet, by key. */
  waiting(): ReadonlyMap<string, LateStart>;
  /** Tries now instead of later. Rejects with the reason if it fails again; it is tried again all the same. */
  retry(key: string): Promise<void>;
  /** No further attempts. */
  stop(): void;
}

interface Attempts {
  name: string;
  start(): Promise<void>;
  late: LateStart | null;
  count: number;
  delay: number | null;
  loggedAt: number;
  timer?: NodeJS.Timeout;
  /** The attempt under way. */
  running: Promise<void> | null;
}

const RETRIES: Backoff = { firstMs: 2_000, longestMs: 60_000, healthyMs: Number.POSITIVE_INFINITY };
/** A website can stay down for weeks: the log tells so once an hour. */
const REMIND_MS = 3_600_000;

/** Starts what may be late when the machine boots, such as daemons on a slow disk, until each of them is up. */
export function createLateStarts({
  log,
  clock,
  retries = RETRIES,
}: {
  log: Logger;
  clock: Clock;
  retries?: Backoff;
}): LateStarts {
  const all = new Map<string, Attempts>();
  let stopped = false;

  const isCurrent = (key: string, attempts: Attempts) => !stopped && all.get(key) === attempts;

  function attempt(key: string, attempts: Attempts): Promise<void> {
    clearTimeout(attempts.timer);
    attempts.running ??= attemptOnce(key, attempts).finally(() => {
      attempts.running = null;
    });
    return attempts.running;
  }

  async function attemptOnce(key: string, attempts: Attempts): Promise<void> {
    attempts.count++;
    try {
      await attempts.start();
    } catch (error) {
      if (isCurrent(key, attempts)) retryLater(key, attempts, error);
      return;
    }
    if (!isCurrent(key, attempts)) return;
    all.delete(key);
    if (attempts.late !== null) log.info({ attempts: attempts.count }, `${attempts.name} is up again`);
  }

  function retryLater(key: string, attempts: Attempts, error: unknown): void {
    const now = clock.now();
    const isFirst = attempts.late === null;
    attempts.late = { name: attempts.name, reason: messageOf(error), since: attempts.late?.since ?? now };
    if (isFirst || now.getTime() - attempts.loggedAt >= REMIND_MS) {
      attempts.loggedAt = now.getTime();
      log.error(
        { err: error, attempts: attempts.count, since: attempts.late.since },
        `${attempts.name} is not up; the host keeps trying`,
      );
    }
    attempts.delay = restartDelay(retries, attempts.delay, 0);
    attempts.timer = setTimeout(() => void attempt(key, attempts), attempts.delay).unref();
  }

  function forget(key: string): void {
    clearTimeout(all.get(key)?.timer);
    all.delete(key);
  }

  return {
    async begin(key, name, start) {
      forget(key);
      const attempts: Attempts = {
        name,
        start,
        late: null,
        count: 0,
        delay: null,
        loggedAt: 0,
        running: null,
      };
      all.set(key, attempts);
      await attempt(key, attempts);
    },
    forget,
    waiting() {
      const waiting = [...all].flatMap(([key, { late }]): [string, LateStart][] =>
        late === null ? [] : [[key, late]],
      );
      return new Map(waiting);
    },
    async retry(key) {
      const attempts = all.get(key);
      if (attempts === undefined) return;
      await attempt(key, attempts);
      if (attempts.late !== null && all.get(key) === attempts) throw new Error(attempts.late.reason);
    },
    stop() {
      stopped = true;
      for (const { timer } of all.values()) clearTimeout(timer);
    },
  };
}
