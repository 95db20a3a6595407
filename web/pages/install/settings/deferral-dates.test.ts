import { expect, it } from 'vitest';
import { dateFieldValue, deferralBounds, startOfDay } from './deferral-dates.ts';

it('reads and writes the days of a date field', () => {
  expect(dateFieldValue(new Date(startOfDay('2026-03-09')))).toBe('2026-03-09');
});

it('begins tomorrow, and ends within the 365 days that the API allows', () => {
  const now = new Date(2026, 11, 31, 23, 59);
  const { first, last } = deferralBounds(now);
  expect(first).toBe('2027-01-01');
  expect(last).toBe('2027-12-31');
  expect(Date.parse(startOfDay(last)) - now.getTime()).toBeLessThanOrEqual(365 * 24 * 60 * 60 * 1000);
});
