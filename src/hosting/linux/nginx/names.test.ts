import { expect, test } from 'vitest';
import { isServedName } from '../../../lib/host-names.ts';
import type { Hostname } from '../../contract/host.ts';
import { askableName, type Behaviour, changesAt, checkNames, servedNames, serverName } from './names.ts';

const NOW = new Date('2026-03-01T00:00:00.000Z');
const until = (ms: number) => ({
  chain: 'c',
  key: 'k',
  notAfter: new Date(NOW.getTime() + ms).toISOString(),
});
const valid = until(0);
const expired = until(-1);

const named = (name: string, changes: Partial<Hostname> = {}): Hostname => ({
  name,
  redirectTo: null,
  forceHttps: false,
  certificate: null,
  ...changes,
});

const HOSTNAMES = [
  named('plain.test'),
  named('both.test', { certificate: valid }),
  named('secure.test', { forceHttps: true, certificate: valid }),
  named('expired.test', { forceHttps: true, certificate: expired }),
  named('waiting.test', { forceHttps: true }),
  named('old.test', { redirectTo: 'plain.test' }),
  named('old-secure.test', { redirectTo: 'plain.test', forceHttps: true, certificate: valid }),
  named('old-both.test', { redirectTo: 'both.test', forceHttps: true }),
  named('to-secure.test', { redirectTo: 'secure.test' }),
  named('to-expired.test', { redirectTo: 'expired.test', certificate: valid }),
  named('to-waiting.test', { redirectTo: 'waiting.test', forceHttps: true, certificate: valid }),
  named('to-elsewhere.test', { redirectTo: 'elsewhere.test', forceHttps: true, certificate: valid }),
];

const shown = (behaviour: Behaviour | undefined) =>
  behaviour?.kind === 'redirect' ? `${behaviour.scheme} ${behaviour.name ?? 'same'}` : behaviour?.kind;

test.each([
  ['plain.test', 'serve', 'serve'],
  ['both.test', 'serve', 'serve'],
  ['secure.test', 'https same', 'serve'],
  // Nobody is sent where no valid certificate awaits them.
  ['expired.test', 'serve', 'serve'],
  ['waiting.test', 'serve', 'serve'],
  ['old.test', 'http plain.test', 'https plain.test'],
  ['old-secure.test', 'http plain.test', 'https plain.test'],
  // One redirect instead of two.
  ['old-both.test', 'https both.test', 'https both.test'],
  ['to-secure.test', 'https secure.test', 'https secure.test'],
  ['to-expired.test', 'http expired.test', 'https expired.test'],
  ['to-waiting.test', 'http waiting.test', 'https waiting.test'],
  ['to-elsewhere.test', 'http elsewhere.test', 'https elsewhere.test'],
])('%s: by HTTP %s, by HTTPS %s', (name, http, https) => {
  const served = servedNames(HOSTNAMES, NOW).find((one) => one.name === name);
  expect([shown(served?.http), shown(served?.https)]).toEqual([http, https]);
});

test('what changes with time is known ahead', () => {
  expect(changesAt(HOSTNAMES, NOW)).toBe(NOW.getTime() + 1);
  expect(changesAt(HOSTNAMES, new Date(NOW.getTime() + 1))).toBe(Number.POSITIVE_INFINITY);
  const soon = changesAt(
    [named('a.test', { certificate: until(2000) }), named('b.test', { certificate: until(500) })],
    NOW,
  );
  expect(soon).toBe(NOW.getTime() + 501);
});

test('a wildcard stands for one label', () => {
  expect(serverName('a.test')).toBe('a.test');
  expect(serverName('*.a-b.test')).toBe('"~^[^.]+\\\\.a\\\\-b\\\\.test$"');
  expect(askableName('*.a.test')).toBe('homeport.a.test');
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
  const notAfter = 'soon';
  expect(() => checkNames({ hostnames: [named('a.test', { certificate: { ...valid, notAfter } })] })).toThrow(
    'the certificate of a.test cannot be used: its end is not a date',
  );
});
