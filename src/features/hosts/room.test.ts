import { expect, it } from 'vitest';
import { newestFirst } from './install-options.ts';
import { knownHost as host, withLeft } from './known-host.fixture.ts';
import { chooseHost } from './room.ts';
import type { KnownHost } from './store.ts';

type Needs = Parameters<typeof chooseHost>[2];

const needs: Needs = { name: 'shop', phpVersion: null, wordpressVersion: null, labels: [] };
const withPhp = (known: KnownHost, ...phpVersions: string[]): KnownHost => ({
  ...known,
  description: known.description === null ? null : { ...known.description, phpVersions },
});

it.each<[string, KnownHost[], Record<string, number>, string, string[]?]>([
  ['the only host', [host('a', 1)], {}, 'a'],
  ['the one with more capacity', [host('a', 10), host('b', 20)], {}, 'b'],
  ['the one with more free capacity', [host('a', 10), host('b', 20)], { b: 15 }, 'a'],
  ['the older of two equals', [host('a', 10), host('b', 10)], { a: 5, b: 5 }, 'a'],
  ['one that accepts installs', [host('a', 100, { accepting: false }), host('b', 1)], {}, 'b'],
  ['one that answers', [host('a', 100, { reason: 'down' }), host('b', 1)], {}, 'b'],
  ['one that was not given up', [host('a', 100, { lost_at: '2026-01-01' }), host('b', 1)], {}, 'b'],
  [
    'one that has the labels',
    [host('a', 100), host('b', 1, { labels: ['acme', 'ssd'] })],
    {},
    'b',
    ['ssd', 'acme'],
  ],
  ['one that is not reserved', [host('a', 100, { labels: ['ssd'], reserved: true }), host('b', 1)], {}, 'b'],
  [
    'a reserved one for its labels',
    [host('a', 1, { labels: ['ssd'], reserved: true }), host('b', 100)],
    {},
    'a',
    ['ssd'],
  ],
  ['one that has described itself', [host('a', 100, { description: null }), host('b', 1)], {}, 'b'],
])('chooses %s', (_what, hosts, counts, chosen, labels = []) => {
  expect(chooseHost(hosts, new Map(Object.entries(counts)), { ...needs, labels })).toMatchObject({
    host: { name: chosen },
  });
});

it.each<[string, KnownHost[], Record<string, number>, string]>([
  [
    'the machine with more memory',
    [withLeft(host('a', 50), 0.2, 1, 0), withLeft(host('b', 10), 0.5, 1, 0)],
    {},
    'b',
  ],
  [
    'the machine with more disk',
    [withLeft(host('a', 50), 1, 0.1, 0), withLeft(host('b', 10), 1, 0.3, 0)],
    {},
    'b',
  ],
  [
    'the machine at rest',
    [withLeft(host('a', 50), 1, 1, 5), withLeft(host('b', 10), 0.5, 0.5, 0.2)],
    {},
    'b',
  ],
  [
    'one that is not short',
    [withLeft(host('a', 50), 0.9, 0.04, 0), withLeft(host('b', 10), 0.06, 1, 1.9)],
    {},
    'b',
  ],
  [
    'the least short if all are',
    [withLeft(host('a', 50), 0.9, 0.01, 0), withLeft(host('b', 10), 0.04, 1, 0)],
    {},
    'b',
  ],
  [
    'one of an earlier version by its capacity',
    [withLeft(host('a', 9), 0.3, 1, 0), host('b', 10)],
    { b: 1 },
    'b',
  ],
  [
    'another host than the production of the account has',
    [host('a', 100), host('b', 100)],
    { a: 1, b: 40 },
    'b',
  ],
  ['the same host if the other has little left', [host('a', 100), host('b', 100)], { a: 1, b: 60 }, 'a'],
])('chooses %s', (_what, hosts, counts, chosen) => {
  const neighbours = new Map([['a', 1]]);
  const isSpread = /production|little/.test(_what);
  expect(
    chooseHost(hosts, new Map(Object.entries(counts)), { ...needs, ...(isSpread ? { neighbours } : {}) }),
  ).toMatchObject({ host: { name: chosen } });
});

it('ignores sizes without a total, which would otherwise leave no host for anyone', () => {
  const odd = withLeft(host('a', 9), 0.2, 1, 0);
  const machine = odd.description?.machine;
  const description = odd.description && {
    ...odd.description,
    ...(machine ? { machine: { ...machine, disk: { total: 0, free: 0 } } } : {}),
  };
  const hosts = [{ ...odd, description }, withLeft(host('b', 10), 0.5, 0.5, 0)];
  expect(chooseHost(hosts, new Map(), needs)).toMatchObject({ host: { name: 'b' } });
  expect(chooseHost([{ ...odd, description }], new Map(), needs)).toMatchObject({ host: { name: 'a' } });
});

const without = (known: KnownHost, name: string): KnownHost => ({
  ...known,
  description:
    known.description === null
      ? null
      : {
          ...known.description,
          reservedNames: known.description.reservedNames.filter((reserved) => reserved !== name),
        },
});

it('chooses a host with the requested versions and without a login of that name', () => {
  const hosts = [host('a', 100), withPhp(host('b', 1), '8.4', '8.2')];
  expect(chooseHost(hosts, new Map(), { ...needs, phpVersion: '8.4' })).toMatchObject({
    host: { name: 'b' },
  });
  expect(
    chooseHost([host('a', 100), without(host('c', 1), 'backup')], new Map(), { ...needs, name: 'backup' }),
  ).toMatchObject({
    host: { name: 'c' },
  });
});

it.each<[string, KnownHost[], Partial<Needs>, RegExp, boolean]>([
  ['no host exists', [], {}, /No host takes new installs/, true],
  ['none accepts installs', [host('a', 1, { accepting: false })], {}, /No host takes new installs/, true],
  ['all are full', [host('full', 0)], {}, /No host has room/, true],
  [
    'none has the labels',
    [host('a', 5, { labels: ['ssd'] })],
    { labels: ['ssd', 'acme'] },
    /^No host with the labels ssd and acme/,
    true,
  ],
  [
    'all are reserved',
    [host('a', 5, { labels: ['ssd'], reserved: true })],
    {},
    /^All hosts .* are reserved/,
    true,
  ],
  [
    'the one with the label may come back',
    [host('a', 5), host('b', 5, { labels: ['ssd'], reason: 'down' })],
    { labels: ['ssd'] },
    /b does not answer/,
    false,
  ],
  ['none has the version', [host('a', 5)], { phpVersion: '7.4' }, /No host has PHP 7\.4/, true],
  [
    'each has a login of that name',
    [host('a', 5)],
    { name: 'backup' },
    /^Every host has a log-in "backup"/,
    true,
  ],
  [
    'each with the version has a login of that name',
    [host('a', 5), without(withPhp(host('b', 5), '7.4'), 'backup')],
    { name: 'backup', phpVersion: '8.2' },
    /^Every host with PHP 8\.2 has a log-in "backup"/,
    true,
  ],
  [
    'the one with capacity may come back',
    [host('full', 0), host('b', 5, { reason: 'down' })],
    {},
    /b does not answer/,
    false,
  ],
])('chooses no host if %s', (_what, hosts, changes, sentence, permanent) => {
  const choice = chooseHost(hosts, new Map(), { ...needs, ...changes });
  expect(choice).toEqual({ refusal: expect.stringMatching(sentence), permanent });
});

it('orders versions numerically', () => {
  expect(newestFirst(['8.2', '8.10', '7.4', '8.2'])).toEqual(['8.10', '8.2', '7.4']);
  expect(newestFirst(['6.8', '6.8.7', '7.0'])).toEqual(['7.0', '6.8.7', '6.8']);
});
