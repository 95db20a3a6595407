import { expect, test } from 'vitest';
import { alignedPairs, printable, shortened, shownBytes, shownTime, table } from './output.ts';

test('columns are as wide as their widest cell, and no line ends in spaces', () => {
  expect(
    table(
      ['ID', 'NAME'],
      [
        ['1', 'Café'],
        ['long-id', ''],
      ],
    ),
  ).toBe('ID       NAME\n1        Café\nlong-id\n');
  expect(
    alignedPairs([
      ['API', 'x'],
      ['Username', 'y'],
    ]),
  ).toBe('  API       x\n  Username  y\n');
});

test('what customers write cannot move the cursor, break a line or turn the text around', () => {
  expect(printable('a\u001b[31mb\r\nc\u202ed')).toBe('a [31mb  c d');
  expect(table(['X'], [['\u001b[2J']])).toBe('X\n [2J\n');
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [1_234_567, '1.2 MB'],
  [123_456_789, '123 MB'],
  [5e15, '5.0 PB'],
  [5e19, '50000 PB'],
])('%d bytes are shown as %s', (bytes, shown) => {
  expect(shownBytes(bytes)).toBe(shown);
});

test('times and long texts', () => {
  expect(shownTime('2026-03-01T10:05:59.000Z', 'never')).toBe('2026-03-01 10:05 UTC');
  expect(shownTime(null, 'never')).toBe('never');
  expect(shortened('abcdef', 6)).toBe('abcdef');
  expect(shortened('abcdefg', 6)).toBe('abcde…');
  expect(shortened('😀😀😀', 2)).toBe('😀…');
});
