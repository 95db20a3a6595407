import { expect, test } from 'vitest';
import { DAY_MS } from '../../lib/durations.ts';
import { retryAfterMs } from './wire.ts';

const now = new Date('2026-01-01T00:00:00Z');

test.each([
  [undefined, null],
  ['', null],
  ['soon', null],
  ['-5', null],
  ['1.5', null],
  ['0', 0],
  [' 120 ', 120_000],
  ['999999999', 30 * DAY_MS],
  ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
  ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
])('Retry-After: %s is %s ms', (header, ms) => {
  expect(retryAfterMs(header, now)).toBe(ms);
});
