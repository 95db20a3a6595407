import { expect, test } from 'vitest';
import { acceptedCodings, codedTag } from './content-coding.ts';

test.each<[string | undefined, string]>([
  [undefined, ''],
  ['', ''],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP , BR', 'br gzip'],
  // Browsers.
  ['gzip, deflate, br, zstd', 'br zstd gzip'],
  ['gzip;q=1.0, br;q=0.5, zstd; q=0.9', 'gzip zstd br'],
  ['gzip;q=0.5, br;q=0', 'gzip'],
  ['br;q=0, gzip;q=0.000', ''],
  ['gzip, identity', 'gzip'],
  ['gzip;q=0.5, identity', ''],
  ['gzip;q=0.5, identity;q=0', 'gzip'],
  ['identity;q=0', ''],
  ['gzip, *;q=0', 'gzip'],
  ['*', ''],
  ['deflate, compress', ''],
  // None of these is a coding that can be read.
  ['gzip;q=2', ''],
  ['gzip;q=-1, br', 'br'],
  ['gzip;level=9', ''],
  ['gzipx, xbr', ''],
  [';;,,;q=1,', ''],
])('%s → %s', (header, codings) => {
  for (let time = 0; time < 2; time++) expect(acceptedCodings(header).join(' ')).toBe(codings);
});

test('any number of different headers is read', () => {
  for (let index = 0; index < 1_000; index++) {
    expect(acceptedCodings(`gzip, x-${index}`)).toEqual(['gzip']);
  }
});

test('each coding has its own weak entity tag', () => {
  expect(codedTag('"a-b"', 'br')).toBe('W/"a-b-br"');
});
