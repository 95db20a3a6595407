import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Clock } from '../lib/clock.ts';
import { entryLimit } from '../lib/entry-limit.ts';
import { findTaken, takeOfWindow } from './rate-window-store.ts';

const WINDOW_SECONDS = 60;
/** A process reserves 1/20 of a limit at a time, which saves most database queries. */
const SHARES = 20;
const KEYS_REMEMBERED = 100_000;
/** Time of counting in memory before the next attempt to use the database. */
const RETRY_MS = 5_000;
/** Reported for a limit that is switched off: the highest setting. Clients would pause at 0. */
const UNLIMITED = 1_000_000_000;

export interface LimitDecision {
  allowed: boolean;
  limit: number;
  /** As far as this process knows; other processes may have reserved more. */
  remaining: number;
  /** Seconds until the window ends. */
  resetSeconds: number;
}

/**
 * Counts requests by key in fixed windows of one minute by default, over all processes. Each process reserves shares of the window's
 * allowance in the database and spends them locally, so the sum never exceeds the limit. All calls for a key pass the same window.
 *
 * While the database accepts no writes, each process counts in memory, so the sum may reach the limit times the number of processes. The
 * next reservation in the same window adds these counts to the database.
 */
export interface RateLimiter {
  /** Spends one request of `key`. A limit of 0 always allows. */
  spend(key: string, limit: number, windowSeconds?: number): Promise<LimitDecision> | LimitDecision;
  /** Whether `key` could spend one request. Spends and reserves nothing. */
  peek(key: string, limit: number, windowSeconds?: number): Promise<LimitDecision> | LimitDecision;
  /** Returns a request that this process spent in the current window. */
  refund(key: string, windowSeconds?: number): void;
}

interface Allowance {
  windowStart: number;
  /** Requests that this process has reserved and not spent. */
  inHand: number;
  /** Requests that no process had reserved at the last query. */
  unclaimed: number;
  /** Requests that this process spent without the database. */
  owed: number;
  /** Whether this process has queried the database in this window. */
  asked: boolean;
  asking: Promise<void> | undefined;
}

export function createRateLimiter(database: Database, clock: Clock, log: Logger): RateLimiter {
  const allowances = new LRUCache<string, Allowance>(entryLimit(KEYS_REMEMBERED));
  /** Time of the next attempt to use the database; undefined while it works. */
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
    // Requests that arrive during a query share its result.
    const current = allowance;
    current.asking ??= (spending ? takeShare : look)(key, current, limit).finally(() => {
      current.asking = undefined;
    });
    return current.asking.then(() => decide(key, limit, spending, windowSeconds));
  }

  /** Reads the reservations of all processes without reserving. */
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
