import { MINUTE_MS } from '../lib/durations.ts';
import type { Randomness } from '../lib/ids.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 5 * MINUTE_MS;
/** Jitter, so that jobs that failed together are not retried together. */
const JITTER = 0.2;

/** At most 30 s with jitter. */
const LONGEST_POSTPONEMENT_MS = 25_000;

/** Milliseconds until the next attempt after attempt number `attempt` (from 1) failed: 1 s · 2ⁿ, at most 5 min, ±20 %. */
export function retryDelayMs(attempt: number, random: Randomness): number {
  const nominal = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt - 1, 20));
  return spread(nominal, random);
}

/** Milliseconds until a postponed job is tried again: its waiting time so far, at least 1 s, at most 25 s, ±20 %. */
export function postponementMs(waitedMs: number, random: Randomness): number {
  return spread(Math.min(LONGEST_POSTPONEMENT_MS, Math.max(FIRST_MS, waitedMs)), random);
}

function spread(nominalMs: number, random: Randomness): number {
  return Math.round(nominalMs * (1 - JITTER + 2 * JITTER * random.fraction()));
}
