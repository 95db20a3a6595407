import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { type Backoff, restartDelay } from '../machine/backoff.ts';

/** A part of the machine or a website that failed to start and is retried. */
export interface FailedStart {
  /** For people: `the website shop`. */
  name: string;
  /** Why the last attempt failed. */
  reason: string;
  since: Date;
}

export interface StartRetries {
  /**
   * Runs `start` now, and again with backoff while it fails. Resolves after the first attempt, and never rejects. `key`
   * identifies it in {@link waiting}.
   */
  begin(key: string, name: string, start: () => Promise<void>): Promise<void>;
  /** Stops retrying, because the part or website is gone. */
  forget(key: string): void;
  /** Everything that has not started yet, by key. */
  waiting(): ReadonlyMap<string, FailedStart>;
  /** Tries now instead of later. Rejects with the reason if it fails again; the retries go on anyway. */
  retry(key: string): Promise<void>;
  /** Stops all retries. */
  stop(): void;
}

interface Attempts {
  name: string;
  start(): Promise<void>;
  failure: FailedStart | null;
  count: number;
  delay: number | null;
  loggedAt: number;
  timer?: NodeJS.Timeout;
  /** The current attempt. */
  running: Promise<void> | null;
}

const RETRIES: Backoff = { firstMs: 2_000, longestMs: 60_000, healthyMs: Number.POSITIVE_INFINITY };
/** A website can stay down for weeks; log a reminder once an hour. */
const REMIND_MS = 3_600_000;

/** Retries starts that can fail when the machine boots, such as daemons on a slow disk, until they succeed. */
export function createStartRetries({
  log,
  clock,
  retries = RETRIES,
}: {
  log: Logger;
  clock: Clock;
  retries?: Backoff;
}): StartRetries {
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
    if (attempts.failure !== null) log.info({ attempts: attempts.count }, `${attempts.name} is up again`);
  }

  function retryLater(key: string, attempts: Attempts, error: unknown): void {
    const now = clock.now();
    const isFirst = attempts.failure === null;
    const since = attempts.failure?.since ?? now;
    attempts.failure = { name: attempts.name, reason: messageOf(error), since };
    if (isFirst || now.getTime() - attempts.loggedAt >= REMIND_MS) {
      attempts.loggedAt = now.getTime();
      log.error(
        { err: error, attempts: attempts.count, since },
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
        failure: null,
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
      const waiting = [...all].flatMap(([key, { failure }]): [string, FailedStart][] =>
        failure === null ? [] : [[key, failure]],
      );
      return new Map(waiting);
    },
    async retry(key) {
      const attempts = all.get(key);
      if (attempts === undefined) return;
      await attempt(key, attempts);
      if (attempts.failure !== null && all.get(key) === attempts) throw new Error(attempts.failure.reason);
    },
    stop() {
      stopped = true;
      for (const { timer } of all.values()) clearTimeout(timer);
    },
  };
}
