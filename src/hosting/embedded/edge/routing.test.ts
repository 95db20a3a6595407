import { describe, expect, test } from 'vitest';
import { parseVhost } from '../host-folder/vhost.ts';
import { createRoutingTable, parseHost } from './routing.ts';

const A = '0a000000-0000-4000-8000-000000000000';
const B = '0b000000-0000-4000-8000-000000000000';

function vhost(id: string, name: string, hostnames: string[]) {
  const file = {
    version: 1,
    id,
    name,
    hostnames: hostnames.map((hostname) => ({
      name: hostname,
      redirectTo: null,
      forceHttps: false,
      certificate: null,
    })),
    offload: null,
    generations: { object: 1, page: 1, cdn: 1 },
  };
  return parseVhost(JSON.stringify(file), 'hosting.test');
}

describe('the routing table', () => {
  test('finds exact names before wildcards, and wildcards for one label only', () => {
    const table = createRoutingTable();
    table.set(vhost(A, 'alpha', ['*.example.com']));
    table.set(vhost(B, 'beta', ['www.example.com', 'example.com']));
    const found = (host: string) => table.find(host)?.vhost.name;
    expect(found('www.example.com')).toBe('beta');
    expect(found('example.com')).toBe('beta');
    expect(found('shop.example.com')).toBe('alpha');
    expect(found('a.shop.example.com')).toBeUndefined();
    expect(found('.example.com')).toBeUndefined();
    expect(found('*.example.com')).toBe('alpha');
    expect(found('example.org')).toBeUndefined();
    expect(found('com')).toBeUndefined();
    expect(table.find('shop.example.com')?.name).toBe('*.example.com');
  });

  test('an install answers its default domain, whatever its other domains are', () => {
    const table = createRoutingTable();
    table.set(vhost(A, 'alpha', []));
    expect(table.find('alpha.hosting.test')?.vhost.id).toBe(A);
  });

  test('a replaced website loses the names that it no longer has', () => {
    const table = createRoutingTable();
    table.set(vhost(A, 'alpha', ['old.test', 'kept.test']));
    table.set(vhost(A, 'alpha', ['kept.test', 'new.test']));
    expect(['old.test', 'kept.test', 'new.test'].map((host) => table.find(host)?.vhost.id)).toEqual([
      undefined,
      A,
      A,
    ]);
    table.delete(A);
    expect(['kept.test', 'new.test', 'alpha.hosting.test'].map((host) => table.find(host))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(table.size).toBe(0);
  });

  test('a contested name has one holder, and the other install takes over', () => {
    const table = createRoutingTable();
    table.set(vhost(B, 'beta', ['shared.test']));
    table.set(vhost(A, 'alpha', ['shared.test', 'beta.hosting.test']));
    expect(table.find('shared.test')?.vhost.id).toBe(A);
    // No other install can take an install's default domain.
    expect(table.find('beta.hosting.test')?.vhost.id).toBe(B);
    expect(table.contested(B)).toEqual([
      { name: 'beta.hosting.test', winner: 'beta' },
      { name: 'shared.test', winner: 'alpha' },
    ]);
    table.delete(A);
    expect(table.find('shared.test')?.vhost.id).toBe(B);
    expect(table.contested(B)).toEqual([]);
  });
});

test.each([
  ['a.test', 'a.test', null],
  ['A.Test', 'a.test', null],
  ['a.test.', 'a.test', null],
  ['a.test:', 'a.test', null],
  ['a.test:8080', 'a.test', '8080'],
  ['A.test.:8080', 'a.test', '8080'],
  ['xn--bcher-kva.test', 'xn--bcher-kva.test', null],
])('parseHost(%j)', (header, name, port) => {
  expect(parseHost(header)).toEqual({ name, port });
});

test.each([
  undefined,
  '',
  '.',
  '.a.test',
  'a.test:x',
  'a.test:123456',
  '[::1]:80',
  'a.test/x',
  'a b',
  'bücher.test',
  'a\r\nb',
  '*.a',
])('parseHost refuses %j', (header) => {
  expect(parseHost(header)).toBeNull();
});
