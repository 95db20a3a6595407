import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';
import type { Span } from './read-store.ts';

/** A check counts for the minute after it, or until the next span begins. */
const CHECK_MS = MINUTE_MS;
/** Without a check for this long, the state is unknown. It is longer if there are many websites, which are checked in turns. */
const SILENT_MS = 3 * MINUTE_MS;
/** Days of history. */
export const HISTORY_DAYS = 90;
/** Kept a little longer, so that the first day is whole. */
export const KEEP_HISTORY_MS = (HISTORY_DAYS + 1) * DAY_MS;

export const PERIODS = {
  last_24_hours: 24 * HOUR_MS,
  last_7_days: 7 * DAY_MS,
  last_30_days: 30 * DAY_MS,
  last_90_days: HISTORY_DAYS * DAY_MS,
} as const;
export type Period = keyof typeof PERIODS;

/** A span as the time that it covers, in milliseconds since 1970. */
export interface Interval {
  from: number;
  to: number;
  isUp: boolean;
}

/** Milliseconds in which a website was seen up and down. The rest of the time is unknown. */
export interface Observed {
  upMs: number;
  downMs: number;
}

/** The time that each span covers. Spans never overlap. */
export function intervalsOf(spans: readonly Span[], now: Date): Interval[] {
  return spans.map(({ first_at, last_at, is_up }, at) => {
    const next = spans[at + 1];
    const end = Math.min(Date.parse(last_at) + CHECK_MS, now.getTime());
    return {
      from: Date.parse(first_at),
      to: next === undefined ? end : Math.min(end, Date.parse(next.first_at)),
      isUp: is_up,
    };
  });
}

export function observedIn(intervals: readonly Interval[], from: number, to: number): Observed {
  const observed = { upMs: 0, downMs: 0 };
  for (const interval of intervals) {
    const ms = Math.min(interval.to, to) - Math.max(interval.from, from);
    if (ms > 0) observed[interval.isUp ? 'upMs' : 'downMs'] += ms;
  }
  return observed;
}

/**
 * The share of the observed time in which the website was up, in percent with three digits; null if nothing was observed. Only a
 * website that was never down has 100.
 */
export function percentageOf({ upMs, downMs }: Observed): number | null {
  const observedMs = upMs + downMs;
  if (observedMs <= 0) return null;
  const exact = (100 * upMs) / observedMs;
  const rounded = Math.round(exact * 1_000) / 1_000;
  return rounded === 100 && downMs > 0 ? 99.999 : rounded;
}

/** One UTC day of the history. */
export interface HistoryDay {
  date: string;
  percentage: number | null;
  down_seconds: number;
  observed_seconds: number;
}

/** The days up to today, oldest first. */
export function historyDays(intervals: readonly Interval[], now: Date): HistoryDay[] {
  const today = Math.floor(now.getTime() / DAY_MS);
  return Array.from({ length: HISTORY_DAYS }, (_, at) => {
    const from = (today - HISTORY_DAYS + 1 + at) * DAY_MS;
    const observed = observedIn(intervals, from, from + DAY_MS);
    return {
      date: new Date(from).toISOString().slice(0, 10),
      percentage: percentageOf(observed),
      down_seconds: Math.round(observed.downMs / 1_000),
      observed_seconds: Math.round((observed.upMs + observed.downMs) / 1_000),
    };
  });
}

export const STATES = ['up', 'down', 'unknown'] as const;
export type UptimeState = (typeof STATES)[number];

/** The state now, and since when; null if it was never checked. `gapMs`: how far two checks in a row may be apart. */
export function presentState(
  spans: readonly Span[],
  openSince: string | null,
  now: Date,
  gapMs = 0,
): { state: UptimeState; since: string | null; checked_at: string | null } {
  const last = spans.at(-1);
  if (last === undefined) return { state: 'unknown', since: null, checked_at: null };
  const checked_at = last.last_at;
  if (now.getTime() - Date.parse(checked_at) > Math.max(SILENT_MS, gapMs)) {
    return { state: 'unknown', since: checked_at, checked_at };
  }
  if (openSince !== null) return { state: 'down', since: openSince, checked_at };
  return { state: last.is_up ? 'up' : 'down', since: beginningOf(spans), checked_at };
}

/** A pause of the checks begins another span. If the state before was the same, it goes on. */
function beginningOf(spans: readonly Span[]): string | null {
  const last = spans.at(-1);
  const before = spans.findLast(({ is_up }) => is_up !== last?.is_up);
  const first = before === undefined ? spans[0] : spans[spans.indexOf(before) + 1];
  return first?.first_at ?? null;
}
