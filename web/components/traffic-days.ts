import type { UsageDay } from '../api/usage.ts';
import type { ChartDay } from './chart-shapes.ts';
import { DAY_MS } from './formatted-time.ts';

/** Number of days in the charts, with today. */
const SHOWN_DAYS = 30;

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/** Returns the visits on the UTC day of a time, as decimal digits. */
export function visitsOn(days: readonly UsageDay[], now: Date): string {
  const today = dayOf(now.getTime());
  return days.find(({ date }) => date === today)?.visit_count ?? '0';
}

/**
 * Returns a value for each of the last 30 UTC days. The server leaves out days without any figure: `absent` is their value, and days
 * before `createdAt` have none.
 */
export function lastDays<Day extends { date: string }>(
  days: readonly Day[],
  { now, createdAt, absent }: { now: Date; createdAt?: string; absent: 0 | null },
  figureOf: (day: Day) => number | null,
): ChartDay[] {
  const known = new Map(days.map((day) => [day.date, day]));
  const first = createdAt === undefined ? '' : dayOf(Date.parse(createdAt));
  return Array.from({ length: SHOWN_DAYS }, (_, index) => {
    const date = dayOf(now.getTime() - (SHOWN_DAYS - 1 - index) * DAY_MS);
    const day = known.get(date);
    if (day !== undefined) return { date, value: figureOf(day) };
    return { date, value: date < first ? null : absent };
  });
}
