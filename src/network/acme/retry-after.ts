import { DAY_MS } from '../../lib/durations.ts';

/** Longest wait that an authority may ask for; beyond it the header is taken for a mistake. */
const MAX_MS = 30 * DAY_MS;

/**
 * The Retry-After header (RFC 9110 section 10.2.3), which is seconds or a date, as milliseconds from `now`; null if
 * there is none or it says nothing usable. A date that has passed is 0.
 */
export function retryAfterMs(header: string | undefined, now: Date): number | null {
  const text = header?.trim() ?? '';
  const isSeconds = /^\d{1,9}$/.test(text);
  // The three forms of a date (section 5.6.7) begin with a weekday; Date.parse takes numbers for years.
  if (!isSeconds && !/^[A-Z]/i.test(text)) return null;
  const ms = isSeconds ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), MAX_MS);
}
