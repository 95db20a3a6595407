import { expect, it } from 'vitest';
import { barsSentence, formatDuration, formatPercentage, levelOf } from './uptime-words.ts';

const day = (date: string, percentage: number | null, down_seconds = 0) => ({
  date,
  percentage,
  down_seconds,
  observed_seconds: percentage === null ? 0 : 86_400,
});

it('shows enough digits to tell a website that was down', () => {
  expect([100, 99.999, 99.95, 99.5, 0, null].map(formatPercentage)).toEqual([
    '100 %',
    '99.999 %',
    '99.950 %',
    '99.50 %',
    '0.00 %',
    'Unknown',
  ]);
});

it('formats durations', () => {
  expect([1, 45, 60, 720, 3_600, 7_500, 86_400, 273_600].map(formatDuration)).toEqual([
    '1 second',
    '45 seconds',
    '1 minute',
    '12 minutes',
    '1 h',
    '2 h 5 min',
    '1 d',
    '3 d 4 h',
  ]);
});

it('tells the days with downtime in words', () => {
  const days = [day('2026-03-08', null), day('2026-03-09', 100), day('2026-03-10', 99.167, 720)];
  expect(barsSentence(days)).toBe(
    'Checked on 2 days of the last 3. Downtime: 10 Mar: 99.17 %, down for 12 minutes.',
  );
  expect(barsSentence(days.slice(0, 2))).toBe('Checked on 1 day of the last 2. No downtime.');
  expect(barsSentence(days.slice(0, 1))).toBe('No checks in the last 90 days.');
  expect(days.map(levelOf)).toEqual(['unknown', 'up', 'brief']);
  expect(levelOf(day('2026-03-10', 50, 43_200))).toBe('long');
});
