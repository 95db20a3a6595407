import { expect, it } from 'vitest';
import { relativeTime } from './formatted-time.ts';

it('counts whole units of the past, and rounds the future', () => {
  const now = new Date('2026-03-10T12:00:00Z');
  const after = (seconds: number) => relativeTime(new Date(now.getTime() + seconds * 1000), now);
  expect(after(-59)).toBe('just now');
  expect(after(-3_599)).toBe('59 minutes ago');
  expect(after(-26 * 3600)).toBe('1 day ago');
  expect(after(47 * 3600)).toBe('in 2 days');
  expect(after(30 * 24 * 3600 - 1)).toBe('in 30 days');
  expect(after(-400 * 24 * 3600)).toBe('1 year ago');
});
