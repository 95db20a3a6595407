import type { Randomness } from '../../../lib/ids.ts';

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
