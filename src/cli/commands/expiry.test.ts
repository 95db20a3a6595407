import { expect, test } from 'vitest';
import { manualClock } from '../../../test/manual-clock.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { parseExpiry } from './expiry.ts';

const clock = manualClock(new Date('2026-03-01T10:00:00.000Z'));

test.each([
  ['90d', '2026-05-30T10:00:00.000Z'],
  ['12h', '2026-03-01T22:00:00.000Z'],
  ['2030-01-31', '2030-01-31T00:00:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2030-01-31T12:30Z', '2030-01-31T12:30:00.000Z'],
  ['2030-01-31T12:30:15.250+02:00', '2030-01-31T10:30:15.250Z'],
])('%s is %s', (text, time) => {
  expect(parseExpiry(text, clock).toISOString()).toBe(time);
});

test.each([
  ['', 'takes a time'],
  ['90', 'takes a time'],
  ['-1d', 'takes a time'],
  ['1.5d', 'takes a time'],
  ['2030-02-30', 'takes a time'],
  ['2030-13-01', 'takes a time'],
  ['2030-01-31T12:30', 'takes a time'],
  ['2030-01-31T25:00Z', 'takes a time'],
  ['next year', 'takes a time'],
  ['0d', 'in the past'],
  ['2026-03-01', 'in the past'],
  ['999999999d', 'hundred years'],
  ['9999-01-01', 'hundred years'],
])('"%s" is refused: %s', (text, reason) => {
  expect(() => parseExpiry(text, clock)).toThrow(OperatorError);
  expect(() => parseExpiry(text, clock)).toThrow(reason);
});
