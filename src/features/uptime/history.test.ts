import { expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';
import { HISTORY_DAYS, historyDays, intervalsOf, observedIn, percentageOf, presentState } from './history.ts';
import { gapMsOf, turnsOf } from './jobs.ts';

const NOW = new Date('2026-03-10T12:00:00.000Z');
const at = (ms: number) => new Date(NOW.getTime() - ms).toISOString();
const span = (firstAgo: number, lastAgo: number, is_up: boolean) => ({
  first_at: at(firstAgo),
  last_at: at(lastAgo),
  is_up,
});

it('counts a check for the minute after it, and never two spans for one', () => {
  const spans = [span(60 * MINUTE_MS, 30 * MINUTE_MS, true), span(29.5 * MINUTE_MS, 25 * MINUTE_MS, false)];
  const observed = observedIn(intervalsOf(spans, NOW), 0, NOW.getTime());
  expect(observed).toEqual({ upMs: 30.5 * MINUTE_MS, downMs: 5.5 * MINUTE_MS });
  // The next minute is not over yet.
  const present = observedIn(intervalsOf([span(MINUTE_MS, 0, true)], NOW), 0, NOW.getTime());
  expect(present).toEqual({ upMs: MINUTE_MS, downMs: 0 });
});

it('leaves time without checks out', () => {
  const spans = [span(3 * DAY_MS, 2 * DAY_MS, true), span(2 * HOUR_MS, HOUR_MS, false)];
  const intervals = intervalsOf(spans, NOW);
  expect(percentageOf(observedIn(intervals, NOW.getTime() - DAY_MS, NOW.getTime()))).toBe(0);
  expect(percentageOf(observedIn(intervals, NOW.getTime() - 7 * DAY_MS, NOW.getTime()))).toBe(95.939);
  const days = historyDays(intervals, NOW);
  expect(days).toHaveLength(HISTORY_DAYS);
  expect(days.at(-1)).toEqual({
    date: '2026-03-10',
    percentage: 0,
    down_seconds: 3_660,
    observed_seconds: 3_660,
  });
  expect(days.at(-2)).toMatchObject({ date: '2026-03-09', percentage: null, observed_seconds: 0 });
  expect(days.at(-4)).toMatchObject({ date: '2026-03-07', percentage: 100, observed_seconds: 43_200 });
});

it('gives 100 % only to a website that was never down', () => {
  expect(percentageOf({ upMs: 90 * DAY_MS, downMs: 0 })).toBe(100);
  expect(percentageOf({ upMs: 90 * DAY_MS, downMs: 1_000 })).toBe(99.999);
  expect(percentageOf({ upMs: 0, downMs: 0 })).toBeNull();
});

it('tells the state since when, across pauses of the checks', () => {
  const up = [
    span(DAY_MS, 20 * HOUR_MS, false),
    span(20 * HOUR_MS, 5 * HOUR_MS, true),
    span(HOUR_MS, 0, true),
  ];
  expect(presentState(up, null, NOW)).toMatchObject({ state: 'up', since: at(20 * HOUR_MS) });
  expect(presentState(up, at(MINUTE_MS), NOW)).toMatchObject({ state: 'down', since: at(MINUTE_MS) });
  expect(presentState(up.slice(0, 2), null, NOW)).toEqual({
    state: 'unknown',
    since: at(5 * HOUR_MS),
    checked_at: at(5 * HOUR_MS),
  });
  // A website of 20,000 is asked every fourth minute.
  const rare = [span(HOUR_MS, 9 * MINUTE_MS, true)];
  expect(presentState(rare, null, NOW, gapMsOf(turnsOf(20_000)))).toMatchObject({ state: 'up' });
  expect(presentState(rare, null, NOW, gapMsOf(turnsOf(15_000)))).toMatchObject({ state: 'unknown' });
  expect(presentState(rare, null, NOW, gapMsOf(turnsOf(1)))).toMatchObject({ state: 'unknown' });
  expect(presentState([], null, NOW)).toEqual({ state: 'unknown', since: null, checked_at: null });
});
