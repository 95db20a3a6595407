import { expect, test } from 'vitest';
import type { HostDescription } from '../../hosting/contract/host.ts';
import { createEdgeAddressBook } from './edge-address-book.ts';

const book = createEdgeAddressBook({
  host: 'linux',
  edgeAddresses: ['192.0.2.1'],
  edgeHttp: { host: '0.0.0.0', port: 80 },
  allowPrivateTargets: [],
});

/** A host. `reaches`: the others that its edge has reached; null: it exchanges no requests with them. */
function host(name: string, edge_addresses: string[], reaches: string[] | null) {
  const isMember = reaches !== null;
  const identity = isMember ? { authority: '0'.repeat(64), notAfter: '2030-01-01T00:00:00.000Z' } : null;
  const description: HostDescription = {
    ...{ id: name, capacity: 1, phpVersions: [], wordpressVersions: [], reservedNames: [] },
    ports: { http: 80, https: 443, ssh: 22 },
    forwarding: { host: null, port: 8471, identity, reaches: reaches ?? [] },
  };
  return { id: name, address: `https://${name}:8470`, edge_addresses, description, lost_at: null };
}

const web1 = host('web1', ['203.0.113.1'], ['web2']);
const web2 = host('web2', ['203.0.113.2', '2001:db8::2'], ['web1']);
const apart = host('apart', ['203.0.113.3'], null);
const hosts = [web1, web2, apart];

test('visitors may arrive at any edge that forwards, whichever host serves the website', () => {
  const all = ['203.0.113.1', '203.0.113.2', '2001:db8::2'];
  expect(book.leadingTo(web1, hosts)).toEqual(all);
  expect(book.leadingTo(web2, hosts)).toEqual(all);
});

test('visitors are not sent to an edge that never reached the one of the website', () => {
  const closed = host('closed', ['203.0.113.4'], []);
  const present = [web1, web2, closed];
  expect(book.leadingTo(web1, present)).not.toContain('203.0.113.4');
  expect(book.leadingTo(closed, present)).toEqual(['203.0.113.4']);
});

test('visitors are not sent to a host that was given up', () => {
  const lost = { ...web2, lost_at: '2026-01-01T00:00:00.000Z' };
  const present = [web1, lost, apart];
  expect(book.leadingTo(web1, present)).toEqual(['203.0.113.1']);
  expect(book.leadingTo(lost, present)).toEqual(['203.0.113.1']);
});

test('a host that forwards nothing is reached at its own edge only', () => {
  expect(book.leadingTo(apart, hosts)).toEqual(['203.0.113.3']);
  expect(book.leadingTo(undefined, hosts)).toEqual(['192.0.2.1']);
});

test('hosts with the addresses of the settings have them once', () => {
  const shared = [host('one', [], ['two']), host('two', [], ['one'])];
  expect(book.leadingTo(shared[0], shared)).toEqual(['192.0.2.1']);
});
