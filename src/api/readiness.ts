import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import type { Clock } from '../lib/clock.ts';

/** Strangers may ask as often as they like. */
const KEPT_MS = 1_000;
const PATIENCE_MS = 3_000;

/** Whether this process can answer requests. */
export interface Readiness {
  /** Null if it can, else one sentence that says why not. Asks the database at most once a second. */
  obstacle(): Promise<string | null>;
  /** From now on it is not ready, so that a balancer sends requests elsewhere. */
  stop(): void;
}

export function createReadiness(database: Pick<Database, 'ping'>, clock: Clock): Readiness {
  let isStopping = false;
  let kept: { at: number; obstacle: Promise<string | null> } | null = null;

  async function ask(): Promise<string | null> {
    const timer = new AbortController();
    const late = sleep(PATIENCE_MS, SILENT, { signal: timer.signal });
    // It is not awaited if the database answers first.
    late.catch(() => {});
    try {
      return await Promise.race([database.ping().then(() => null), late]);
    } catch {
      // Each request that fails for this reason is in the log with it.
      return SILENT;
    } finally {
      timer.abort();
    }
  }

  return {
    async obstacle() {
      if (isStopping) return 'This process is stopping.';
      const now = clock.now().getTime();
      // The clock may have been set back since.
      if (kept === null || Math.abs(now - kept.at) >= KEPT_MS) kept = { at: now, obstacle: ask() };
      return kept.obstacle;
    },
    stop() {
      isStopping = true;
    },
  };
}

const SILENT = 'The database does not answer.';
