import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Clock } from '../lib/clock.ts';
import { findTaken, takeOfWindow } from './rate-window-store.ts';

const WINDOW_SECONDS = 60;
/** A process takes a twentieth of a limit at a time, so that it asks the database once in so many requests. */
const SHARES = 20;
const KEYS_REMEMBERED = 100_000;
/** How long to count in memory before the database is tried again. */
const RETRY_MS = 5_000;
/** What is said of a limit that is switched off: the highest that can be set. Clients pause when nothing remains. */
const UNLIMITED = 1_000_000_000;

export interface LimitDecision {
  allowed: boolean;
  limit: number;
  /** As far as this process knows; others may hold shares of the rest. */
  remaining: number;
  /** Seconds until the window ends. */
  resetSeconds: number;
}

/**
 * Requests a minute for a key, in fixed windows, held across all processes: each takes shares of the window's
 * allowance from the database and spends them by itself, so the sum never exceeds the limit. A key whose window is
 * another than a minute has the same one at every call.
 *
 * While the database takes no writes, each process counts in memory, so the sum may reach the limit times the number of
 * processes. What it counted reaches the database with its next share of the same window.
 */
export interface RateLimiter {
  /** Spends one request of `key`. A limit of 0 always allows. */
  spend(key: string, limit: number, windowSeconds?: number): Promise<LimitDecision> | LimitDecision;
  /** Whether `key` could spend one, without spending it or taking a share for it. */
  peek(key: string, limit: number, windowSeconds?: number): Promise<LimitDecision> | LimitDecision;
  /** Gives back one that this process spent in the present window: it turned out not to count. */
  refund(key: string, windowSeconds?: number): void;
}

interface Allowance {
  windowStart: number;
  /** What this process may still spend of the shares that it took. */
  inHand: number;
  /** What nobody had taken when this process asked last. */
  unclaimed: number;
  /** What this process took without the database. */
  owed: number;
  /** Whether it has asked at all in this window. */
  asked: boolean;
  asking: Promise<void> | undefined;
}

export function createRateLimiter(database: Database, clock: Clock, log: Logger): RateLimiter {
  const allowances = new LRUCache<string, Allowance>({ max: KEYS_REMEMBERED });
  /** When the database is tried again; undefined while it works. */
  let retryAt: number | undefined;

  const isAway = () => retryAt !== undefined && clock.now().getTime() < retryAt;

  function failed(err: unknown): void {
    if (retryAt === undefined) {
      log.error(
        { err },
        'rate limits are counted in memory, because the database cannot be used; will retry',
      );
    }
    retryAt = clock.now().getTime() + RETRY_MS;
  }

  function worked(): void {
    if (retryAt !== undefined) log.info('rate limits are counted in the database again');
    retryAt = undefined;
  }

  function decide(
    key: string,
    limit: number,
    spending: boolean,
    windowSeconds: number,
  ): Promise<LimitDecision> | LimitDecision {
    const now = clock.now().getTime();
    const windowMs = windowSeconds * 1000;
    const windowStart = now - (now % windowMs);
    const resetSeconds = Math.ceil((windowStart + windowMs - now) / 1000);
    if (limit === 0) return { allowed: true, limit: UNLIMITED, remaining: UNLIMITED, resetSeconds };

    let allowance = allowances.get(key);
    if (allowance?.windowStart !== windowStart) {
      allowance = { windowStart, inHand: 0, unclaimed: limit, owed: 0, asked: false, asking: undefined };
      allowances.set(key, allowance);
    }
    if (allowance.inHand > 0) {
      if (spending) allowance.inHand--;
      return { allowed: true, limit, remaining: allowance.inHand + allowance.unclaimed, resetSeconds };
    }
    if (allowance.unclaimed === 0) return { allowed: false, limit, remaining: 0, resetSeconds };
    if (!spending && allowance.asked) {
      return { allowed: true, limit, remaining: allowance.unclaimed, resetSeconds };
    }
    // Requests that arrive meanwhile wait for the same answer instead of asking again.
    const current = allowance;
    current.asking ??= (spending ? takeShare : look)(key, current, limit).finally(() => {
      current.asking = undefined;
    });
    return current.asking.then(() => decide(key, limit, spending, windowSeconds));
  }

  /** What the processes have taken together, without taking anything. */
  async function look(key: string, allowance: Allowance, limit: number): Promise<void> {
    const start = new Date(allowance.windowStart).toISOString();
    allowance.asked = true;
    if (isAway()) return;
    try {
      const taken = await findTaken(database.reader, key, start);
      allowance.unclaimed = Math.max(0, limit - taken - allowance.owed);
    } catch (error) {
      failed(error);
    }
  }

  async function takeShare(key: string, allowance: Allowance, limit: number): Promise<void> {
    const share = Math.max(1, Math.ceil(limit / SHARES));
    const start = new Date(allowance.windowStart).toISOString();
    allowance.asked = true;
    if (isAway()) return takeFromMemory(allowance, share);
    const { owed } = allowance;
    try {
      const taken = await database.write(({ queries }) =>
        takeOfWindow(queries, { key, start, share: share + owed }),
      );
      allowance.owed -= owed;
      allowance.inHand += Math.max(0, share - Math.max(0, taken - limit));
      allowance.unclaimed = Math.max(0, limit - taken);
      worked();
    } catch (error) {
      failed(error);
      takeFromMemory(allowance, share);
    }
  }

  function takeFromMemory(allowance: Allowance, share: number): void {
    const taken = Math.min(share, allowance.unclaimed);
    allowance.inHand += taken;
    allowance.owed += taken;
    allowance.unclaimed -= taken;
  }

  return {
    spend: (key, limit, windowSeconds = WINDOW_SECONDS) => decide(key, limit, true, windowSeconds),
    peek: (key, limit, windowSeconds = WINDOW_SECONDS) => decide(key, limit, false, windowSeconds),
    refund(key, windowSeconds = WINDOW_SECONDS) {
      const now = clock.now().getTime();
      const allowance = allowances.get(key);
      if (allowance?.windowStart === now - (now % (windowSeconds * 1000))) allowance.inHand++;
    },
  };
}
