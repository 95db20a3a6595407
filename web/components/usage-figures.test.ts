import { expect, it } from 'vitest';
import {
  formatByteCount,
  formatCount,
  monthOf,
  ofLimit,
  reachedLimits,
  storedBytes,
} from './usage-figures.ts';

it('formats counts, and a dash for what was not measured', () => {
  expect([
    formatCount('48211'),
    formatCount(null),
    formatByteCount('1400000'),
    formatByteCount(null),
  ]).toEqual(['48,211', '–', '1.4 MB', '–']);
});

it.each([
  ['12', 1000, '12 of 1,000 (1 %)'],
  ['1500', 1000, '1,500 of 1,000 (150 %)'],
  [null, 1000, '0 of 1,000 (0 %)'],
  ['5', 0, '5 of 0'],
  ['5', null, '5'],
  [null, null, '–'],
])('shows %s beside the limit %s', (used, limit, text) => {
  expect(ofLimit(used, limit, formatCount)).toBe(text);
});

it('adds files and database', () => {
  expect([storedBytes('5', '7'), storedBytes('5', null), storedBytes(null, null)]).toEqual(['12', '5', null]);
});

it('begins the month in UTC', () => {
  expect(monthOf(new Date('2026-03-31T23:59:59Z'))).toBe('2026-03-01');
});

it('tells the limits of which 80 % are used', () => {
  const figures = [
    ['visits', '79', 100],
    ['bandwidth', '809', 1000],
    ['storage', '2500', 1000],
    ['more', null, 0],
    ['all', '5', null],
  ] as const;
  expect(reachedLimits(figures)).toEqual([
    { name: 'bandwidth', percent: 80 },
    { name: 'storage', percent: 250 },
  ]);
});
