import { describe, expect, test } from 'vitest';
import { RANGE_CASES, RANGES } from './address-ranges.fixture.ts';
import { addressRanges, faultOfRange, isInRanges, mergedRanges, normalizedRange } from './address-ranges.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  [' 192.0.2.7/32 ', '192.0.2.7'],
  ['192.0.2.77/24', '192.0.2.0/24'],
  ['2001:DB8:0:0::7', '2001:db8::7'],
  ['2001:db8::7/48', '2001:db8::/48'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7/120', '192.0.2.0/24'],
  ['::1', '::1'],
])('%j is %s', (text, normalized) => {
  expect(normalizedRange(text)).toBe(normalized);
});

test.each([
  '',
  'x',
  '10',
  '010.1.1.1',
  '1.2.3',
  '1.2.3.4/33',
  '1.2.3.4/',
  '1.2.3.4/-1',
  '::1/129',
  'fe80::1%eth0',
  '::ffff:1.2.3.4/90',
  '1.2.3.4/24/24',
])('%j is no range', (text) => {
  expect(normalizedRange(text)).toBeNull();
  expect(faultOfRange(text)?.code).toBe('invalid_format');
});

test.each(['0.0.0.0/0', '10.0.0.0/7', '::/0', '2000::/3'])('%s is too wide', (text) => {
  expect(faultOfRange(text)?.code).toBe('too_wide');
});

test('accepts the widest ranges', () => {
  for (const text of ['10.0.0.0/8', '2001::/16']) expect(faultOfRange(text)).toBeUndefined();
});

test('ranges inside others are left out, and the rest is sorted', () => {
  expect(
    mergedRanges([
      '2001:db8::/32',
      '192.0.2.7',
      '192.0.2.0/24',
      '10.0.0.1',
      '192.0.2.0/24',
      '2001:db8:1::/48',
    ]),
  ).toEqual(['10.0.0.1', '192.0.2.0/24', '2001:db8::/32']);
});

describe('addresses in ranges', () => {
  const ranges = addressRanges(RANGES);
  test.each(RANGE_CASES)('%s', (address, _digits, isIn) => {
    expect(isInRanges(ranges, address)).toBe(isIn);
  });
  test('an unknown address is in none', () => {
    for (const address of [undefined, '', 'unix:']) expect(isInRanges(ranges, address)).toBe(false);
  });
});
