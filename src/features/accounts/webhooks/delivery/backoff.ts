import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../lib/durations.ts';
import type { Randomness } from '../../../../lib/ids.ts';

/** How long an event is retried before the webhook is switched off. */
export const RETRIED_MS = 3 * DAY_MS;

/** Pauses after the first failures; the last one repeats. */
const PAUSES_MS = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
];
/** Jitter, so that a receiver that comes back does not get everything at once. */
const JITTER = 0.2;
/** The longest pause that a receiver can ask for. */
const LONGEST_ASKED_MS = 4 * HOUR_MS;

/** Milliseconds until the next attempt, after so many attempts (from 1); at least as many as the receiver asked for. */
export function retryPauseMs(
  attempts: number,
  retryAfterSeconds: number | null,
  random: Pick<Randomness, 'fraction'>,
): number {
  const nominal = PAUSES_MS[Math.min(attempts, PAUSES_MS.length) - 1] ?? HOUR_MS;
  const spread = Math.round(nominal * (1 - JITTER + 2 * JITTER * random.fraction()));
  return Math.max(spread, Math.min((retryAfterSeconds ?? 0) * 1_000, LONGEST_ASKED_MS));
}
