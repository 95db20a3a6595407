import type { Randomness } from '../ids.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;
/** Spread around the nominal delay, so that jobs that failed together do not come back together. */
const JITTER = 0.2;

/** Milliseconds until the next attempt after attempt number `attempt` (from 1) failed: 1 s · 2ⁿ, at most 5 min, ±20 %. */
export function retryDelayMs(attempt: number, random: Randomness): number {
  const nominal = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt - 1, 20));
  return Math.round(nominal * (1 - JITTER + 2 * JITTER * random.fraction()));
}
