import { DAY_MS } from '../../lib/durations.ts';
import { INVALID_PARAMETERS, InvalidRequest } from '../../lib/failures.ts';

/** UTC days, `YYYY-MM-DD`, which sort as text. Both ends are included. */
export interface DayRange {
  first: string;
  last: string;
}

/** Days are kept a little longer than 13 months. */
export const KEEP_DAYS = 400;
const DEFAULT_DAYS = 30;

export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

export function daysBefore(day: string, days: number): string {
  return dayOf(new Date(Date.parse(day) - days * DAY_MS));
}

/** Number of days in a range. */
export function lengthOf({ first, last }: DayRange): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
}

/**
 * The requested range: 30 days up to today by default. Throws InvalidRequest if it is empty or longer than days are kept.
 */
export function rangeOf({ first, last }: Partial<DayRange>, now: Date): DayRange {
  const end = last ?? (first === undefined ? dayOf(now) : laterOf(dayOf(now), first));
  const range = { first: first ?? daysBefore(end, DEFAULT_DAYS - 1), last: end };
  const length = lengthOf(range);
  if (length < 1) throw refused('last_date', 'last_date must not be before first_date');
  if (length > KEEP_DAYS)
    throw refused('first_date', `first_date and last_date must span at most ${KEEP_DAYS} days`);
  return range;
}

function laterOf(one: string, other: string): string {
  return one > other ? one : other;
}

/** Hour and minute (UTC) of the daily measurement of storage. */
export const MEASURED_AT = { hour: 2, minute: 29 };

/** When the storage is measured next. */
export function nextMeasurement(now: Date): string {
  const today = new Date(now);
  today.setUTCHours(MEASURED_AT.hour, MEASURED_AT.minute, 0, 0);
  return new Date(today.getTime() + (today > now ? 0 : DAY_MS)).toISOString();
}

function refused(field: string, message: string): InvalidRequest {
  return new InvalidRequest(INVALID_PARAMETERS, [
    { resource: 'Query', field, type: 'invalid_value', code: 'invalid_format', message },
  ]);
}
