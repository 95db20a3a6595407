import { describe, expect, test } from 'vitest';
import { replacedHosts, type UrlChange } from './replace-urls.ts';

const hostsOf = (change: Partial<UrlChange>) =>
  replacedHosts({ from: [], to: 'new.test', scheme: null, ports: { http: '', https: '' }, ...change });

test.each([
  'example.com',
  'localhost:8080',
  'old-.example.com',
  'staging..example.com',
  `${'x'.repeat(64)}.example.com`,
])('URLs of the host %s can be replaced', (host) => {
  expect(hostsOf({ from: [host] })).toEqual([host]);
});

test.each([
  '',
  '*.a.b',
  '-old.example.com',
  'example.com/',
  'a b',
  "a'b",
  'a\nb',
  '../a',
  'example.com:123456',
])('URLs of %j cannot be replaced', (host) => {
  expect(hostsOf({ from: [host] })).toEqual([]);
});

describe('the replaced hosts', () => {
  test('are the former ones, and the present one if all must use HTTPS', () => {
    expect(hostsOf({ from: ['new.test', 'old.test'] })).toEqual(['old.test']);
    expect(hostsOf({ from: ['old.test'], scheme: 'http' })).toEqual(['old.test']);
    expect(hostsOf({ from: ['new.test'], scheme: 'https' })).toEqual(['new.test']);
  });

  test('have both forms of an internationalised name, and the unusual ports of the host', () => {
    expect(hostsOf({ from: ['xn--bcher-kva.test'], ports: { http: '8080', https: '' } })).toEqual([
      'xn--bcher-kva.test',
      'bücher.test',
      'xn--bcher-kva.test:8080',
      'bücher.test:8080',
    ]);
  });

  test('keep a port that is not one of this host', () => {
    const ports = { http: '8080', https: '8444' };
    expect(hostsOf({ from: ['old.test:9000'], ports })).toEqual(['old.test:9000']);
    expect(hostsOf({ from: ['old.test:8080'], ports })).toEqual([
      'old.test',
      'old.test:8080',
      'old.test:8444',
    ]);
    expect(hostsOf({ from: ['new.test:8080'], ports })).toEqual([]);
  });

  test('are those without a port if the host has other ports since', () => {
    const ports = { http: '8080', https: '8444' };
    expect(hostsOf({ from: ['new.test:80'], ports })).toEqual(['new.test', 'new.test:8080', 'new.test:8444']);
    expect(hostsOf({ from: ['new.test:8080'] })).toEqual(['new.test:8080']);
  });
});
