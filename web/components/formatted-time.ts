export const DAY_MS = 24 * 60 * 60 * 1000;

// Not "yesterday": 26 hours ago may be the day before.
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

const UNITS = [
  ['year', 365 * 24 * 3600],
  ['month', 30 * 24 * 3600],
  ['day', 24 * 3600],
  ['hour', 3600],
  ['minute', 60],
] as const;

/**
 * Formats a time relative to now: "3 hours ago", "in 2 days", "just now". Of the past, only whole units count. The future is rounded,
 * because what was just set to end in 30 days must not say 29.
 */
export function relativeTime(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1000;
  for (const [unit, length] of UNITS) {
    const count = seconds / length;
    if (Math.abs(count) >= 1) return relative.format(count < 0 ? Math.trunc(count) : Math.round(count), unit);
  }
  return 'just now';
}

/** Formats a date and time: "21 Feb 2027, 10:00". */
export function formatTime(at: string): string {
  return absolute.format(new Date(at));
}
