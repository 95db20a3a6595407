import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import type { Randomness } from '../../../lib/ids.ts';

/** Minutes at first, while a customer sets up the DNS and waits; hours later. */
const PAUSES_MS = [1, 2, 5, 10, 30, 60, 120, 240, 360].map((minutes) => minutes * MINUTE_MS);
const LONGEST_MS = 12 * HOUR_MS;
/** Spreads retries of names that failed together. */
const JITTER = 0.2;

/** Authorities limit failed validations per hour (Let's Encrypt: 5). One less leaves a manual attempt to the operator. */
export const VALIDATIONS_AN_HOUR = 4;
/** After a permanent refusal, one retry a day notices a change of the cause. */
export const AFTER_FINAL_REFUSAL_MS = DAY_MS;

/** Milliseconds until the next attempt after this many consecutive failures (from 1), spread by ±20 %. */
export function pauseAfter(failures: number, random: Randomness): number {
  const nominal = PAUSES_MS[failures - 1] ?? LONGEST_MS;
  return Math.round(nominal * (1 - JITTER + 2 * JITTER * random.fraction()));
}

/**
 * Milliseconds until another validation of a name may be requested, or 0. `recent`: times of earlier requests, in any
 * order.
 */
export function pauseForValidations(recent: Date[], now: Date): number {
  const within = recent.map((at) => at.getTime()).filter((at) => at > now.getTime() - HOUR_MS);
  if (within.length < VALIDATIONS_AN_HOUR) return 0;
  const freeing = within.sort((a, b) => b - a)[VALIDATIONS_AN_HOUR - 1] ?? 0;
  return freeing + HOUR_MS - now.getTime();
}

/** Spread of renewals around the last third, as a fraction of the lifetime. */
const SPREAD = 0.02;

/**
 * The time to renew a certificate: with a third of its lifetime left, or within the window that the authority suggests
 * (RFC 9773 section 4.2). Randomly spread, so that certificates issued together are not renewed together.
 */
export function renewalTime(
  { notBefore, notAfter }: { notBefore: Date; notAfter: Date },
  window: { start: Date; end: Date } | null,
  random: Randomness,
): Date {
  if (window !== null) return between(window.start.getTime(), window.end.getTime(), random);
  const lifetime = notAfter.getTime() - notBefore.getTime();
  const third = notAfter.getTime() - lifetime / 3;
  return between(third - lifetime * SPREAD, third + lifetime * SPREAD, random);
}

function between(start: number, end: number, random: Randomness): Date {
  return new Date(Math.round(start + Math.max(0, end - start) * random.fraction()));
}
