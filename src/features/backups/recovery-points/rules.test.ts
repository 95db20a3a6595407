import { expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { baseOf, keptPoints, lateMs, periodMs } from './rules.ts';
import type { Point } from './store.ts';

const START = Date.UTC(2026, 0, 1);
const at = (minute: number) => new Date(START + minute * MINUTE_MS);
const point = (minute: number, base: number | null = null): Point => ({
  ...{
    id: `p${minute}`,
    base_id: base === null ? null : `p${base}`,
    taken_at: at(minute).toISOString(),
    bytes: 100,
  },
});

test('the newest points are kept, with their bases', () => {
  const points = Array.from({ length: 40 }, (_, age) => point(200 - 5 * age, 0));
  const kept = keptPoints(points, null);
  expect(kept).toEqual(new Set([...points.slice(0, 11).map(({ id }) => id), 'p0']));
  expect(keptPoints([], null)).toEqual(new Set());
});

test('a daily backup replaces the points before it, and never the newest one with its base', () => {
  const points = [point(30, 0), point(20, 0), point(10, 0), point(0)];
  expect(keptPoints(points, at(20).toISOString())).toEqual(new Set(['p30', 'p20', 'p0']));
  expect(keptPoints(points, at(40).toISOString())).toEqual(new Set(['p30', 'p0']));
});

test('a point is based on the newest one that has all files, for a day', () => {
  expect(baseOf([], at(0))).toBeNull();
  expect(baseOf([point(0)], at(5))).toBe('p0');
  expect(baseOf([point(10, 0), point(5, 0), point(0)], at(15))).toBe('p0');
  expect(baseOf([point(10), point(5, 0), point(0)], at(15))).toBe('p10');
  expect(baseOf([point(10, 0), point(0)], new Date(START + DAY_MS))).toBeNull();
});

test('a point has all files if its base is gone', () => {
  expect(baseOf([point(10, 0)], at(15))).toBeNull();
});

test('looks leave a minute for the work', () => {
  expect([1, 2, 5].map(periodMs)).toEqual([MINUTE_MS, MINUTE_MS, 4 * MINUTE_MS]);
  expect(lateMs(5)).toBe(10 * MINUTE_MS);
});
