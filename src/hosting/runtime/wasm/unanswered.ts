import { LRUCache } from 'lru-cache';

/** WordPress asks several times for a page of wp-admin, and each request would wait. */
const REMEMBERED_MS = 30_000;
const MOST_REMEMBERED = 200;

/** A name that cannot be found, or an address that does not answer. */
export class Unanswered extends Error {}

/** Remembers for a while what did not answer, so that only the first of many attempts waits. */
export interface UnansweredQuestions {
  /** Runs `ask`, unless it ended with {@link Unanswered} lately for this key: then throws the same at once. */
  ask<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer>;
}

/** `now`: milliseconds of a clock that never goes back. */
export function rememberUnanswered(now: () => number): UnansweredQuestions {
  const remembered = new LRUCache<string, Unanswered>({
    max: MOST_REMEMBERED,
    ttl: REMEMBERED_MS,
    perf: { now },
    // Each question asks the clock.
    ttlResolution: 0,
  });
  return {
    async ask(key, ask) {
      const former = remembered.get(key);
      if (former !== undefined) throw former;
      try {
        return await ask();
      } catch (error) {
        if (error instanceof Unanswered) remembered.set(key, error);
        throw error;
      }
    },
  };
}
