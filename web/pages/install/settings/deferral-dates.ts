/** Formats the local date for a date field: `2026-03-01`. */
export function dateFieldValue(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The limit of the API. */
const MOST_DAYS = 365;

/** The first and the last day of a date field for a deferral: tomorrow, and a year ahead. */
export function deferralBounds(now: Date): { first: string; last: string } {
  const inDays = (days: number) =>
    dateFieldValue(new Date(now.getFullYear(), now.getMonth(), now.getDate() + days));
  return { first: inDays(1), last: inDays(MOST_DAYS) };
}

/** The time at which the day of a date field begins for the user. */
export function startOfDay(day: string): string {
  return new Date(`${day}T00:00`).toISOString();
}
