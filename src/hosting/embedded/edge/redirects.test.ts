import { expect, test } from 'vitest';
import { parseVhost } from '../host-folder/vhost.ts';
import { type Arrival, redirectFor } from './redirects.ts';
import { parseTarget } from './request-target.ts';
import { createRoutingTable } from './routing.ts';

const NOW = new Date('2026-03-01T00:00:00.000Z');
const valid = { chain: '', sealedKey: '', notAfter: NOW.toISOString() };
/** From before the end was kept. */
const endless = { chain: '', sealedKey: '' };

const table = createRoutingTable();
table.set(
  parseVhost(
    JSON.stringify({
      version: 1,
      id: '0a000000-0000-4000-8000-000000000000',
      name: 'alpha',
      hostnames: [
        { name: 'plain.test', redirectTo: null, forceHttps: false, certificate: null },
        { name: 'secure.test', redirectTo: null, forceHttps: true, certificate: valid },
        { name: 'endless.test', redirectTo: null, forceHttps: true, certificate: endless },
        { name: '*.wild.test', redirectTo: null, forceHttps: true, certificate: valid },
        { name: 'old.test', redirectTo: 'plain.test', forceHttps: false, certificate: null },
      ],
      offload: null,
      generations: { object: 1, page: 1, cdn: 1 },
    }),
    'hosting.test',
  ),
);

function redirected(url: string, listening = { http: 8080, https: 8444 }): string | null {
  const [, scheme, host = '', port, rest = ''] = /^(https?):\/\/([^:/]+)(?::(\d+))?(.*)$/.exec(url) ?? [];
  const route = table.find(host);
  const target = parseTarget(rest);
  if (route === undefined || target === null || (scheme !== 'http' && scheme !== 'https'))
    throw new Error(url);
  const arrival: Arrival = { scheme, name: host, port: port ?? null };
  return redirectFor(route, arrival, target, listening, NOW);
}

test.each([
  ['http://plain.test:8080/a', null],
  ['https://plain.test:8444/a', null],
  ['https://secure.test:8444/a', null],
  ['http://secure.test:8080/a%20b/?c=d&e=%2F', 'https://secure.test:8444/a%20b/?c=d&e=%2F'],
  ['http://shop.wild.test:8080/', 'https://shop.wild.test:8444/'],
  ['http://old.test:8080/a?b', 'http://plain.test:8080/a?b'],
  ['https://old.test:8444/a?b', 'https://plain.test:8444/a?b'],
  ['http://endless.test:8080/', 'https://endless.test:8444/'],
  // Forwarded from the default ports.
  ['http://secure.test/', 'https://secure.test/'],
  ['http://old.test/', 'http://plain.test/'],
  // A path that looks like another host stays a path.
  ['http://old.test:8080//evil.test/x', 'http://plain.test:8080//evil.test/x'],
  ['http://secure.test:8080//evil.test', 'https://secure.test:8444//evil.test'],
  ['http://old.test:8080/@evil.test', 'http://plain.test:8080/@evil.test'],
])('%s → %s', (url, location) => {
  expect(redirected(url)).toBe(location);
});

test('default ports are not named', () => {
  expect(redirected('http://secure.test:8080/', { http: 8080, https: 443 })).toBe('https://secure.test/');
  expect(redirected('http://old.test:80/', { http: 80, https: 443 })).toBe('http://plain.test/');
});
