import { expect, test } from 'vitest';
import { isServedName } from '../../lib/host-names.ts';
import type { Hostname } from '../contract/install-state.ts';
import { askableName, checkNames } from './served-names.ts';

const named = (name: string, changes: Partial<Hostname> = {}): Hostname => ({
  name,
  redirectTo: null,
  forceHttps: false,
  certificate: null,
  ...changes,
});

test('a wildcard is asked for by one of its names', () => {
  expect(['a.test', '*.a.test'].map(askableName)).toEqual(['a.test', 'homeport.a.test']);
});

test('names that cannot be', () => {
  expect(isServedName('a_b.xn--e1afmkfd.test')).toBe(true);
  for (const name of [
    '',
    'A.test',
    'a..test',
    '.a',
    'a.',
    '-a.test',
    'a/b',
    '*.a.test',
    `${'a'.repeat(64)}.test`,
  ]) {
    expect(isServedName(name)).toBe(false);
  }
  expect(() => checkNames({ hostnames: [named('*.a.test'), named('a.test')] })).not.toThrow();
  expect(() => checkNames({ hostnames: [named('*.*.test')] })).toThrow('"*.*.test" is not a host name');
  expect(() => checkNames({ hostnames: [named('a.test', { redirectTo: '*.b.test' })] })).toThrow(
    'redirects to',
  );
  const certificate = { chain: 'c', key: 'k', notAfter: 'soon' };
  expect(() => checkNames({ hostnames: [named('a.test', { certificate })] })).toThrow(
    'the certificate of a.test cannot be used: its end is not a date',
  );
});
