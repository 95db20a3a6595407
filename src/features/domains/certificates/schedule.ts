import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import type { Randomness } from '../../../lib/ids.ts';

/** Minutes first, while a customer sets up the DNS and looks on; hours later, when nobody does. */
const PAUSES_MS = [1, 2, 5, 10, 30, 60, 120, 240, 360].map((minutes) => minutes * MINUTE_MS);
const LONGEST_MS = 12 * HOUR_MS;
/** Names that failed together do not come back together. */
const JITTER = 0.2;

/** Authorities count failed validations by the hour (Let's Encrypt: 5); one below that leaves the operator a try. */
export const VALIDATIONS_AN_HOUR = 4;
/** After a refusal that only a change mends, one look a day notices the change that nobody announced. */
export const AFTER_FINAL_REFUSAL_MS = DAY_MS;

/** Milliseconds until the authority is asked again after so many failures in a row (from 1), spread by ±20 %. */
export function pauseAfter(failures: number, random: Randomness): number {
  const nominal = PAUSES_MS[failures - 1] ?? LONGEST_MS;
  return Math.round(nominal * (1 - JITTER + 2 * JITTER * random.fraction()));
}

/**
 * Milliseconds until one more validation of a name may be asked for, 0 for now. `recent` are the times of those asked so
 * far, in any order.
 */
export function pauseForValidations(recent: Date[], now: Date): number {
  const within = recent.map((at) => at.getTime()).filter((at) => at > now.getTime() - HOUR_MS);
  if (within.length < VALIDATIONS_AN_HOUR) return 0;
  const freeing = within.sort((a, b) => b - a)[VALIDATIONS_AN_HOUR - 1] ?? 0;
  return freeing + HOUR_MS - now.getTime();
}

/** How far around the third the renewals of certificates of one day are spread, as a part of the lifetime. */
const SPREAD = 0.02;

/**
 * When to renew a certificate: with a third of its lifetime left, or at a moment of the window that the authority suggests
 * (RFC 9773 section 4.2). Spread at random, so that what was issued together is not renewed together.
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
