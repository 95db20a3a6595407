import { expect, test } from 'vitest';
import { linuxLayout } from '../machine/layout.ts';
import { missingExtensions } from '../machine/php-extensions.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import type { InstallRecord, Records } from '../machine/record.ts';
import { checkObjectCache, inspectPhp } from './php.ts';

const layout = linuxLayout('/nowhere', '/nowhere');
const lacking = (...names: string[]): PhpRuntime => ({
  ...{ version: '8.4', root: '/', fpm: '/fpm', cli: '/php', fault: null },
  modules: missingExtensions([]).filter((name) => !names.includes(name)),
});

function record(name: string, phpVersion: string): InstallRecord {
  const state = { id: name, name, primaryHostname: name, hostnames: [], offload: null };
  return {
    state: { ...state, phpVersion, wordpressVersion: null },
    placement: { uid: 1, gid: 1, phpVersion, wordpressVersion: '7.1', database: name },
  };
}

function recordsOf(...all: InstallRecord[]): Records {
  const [read, write, remove] = [async () => null, async () => {}, async () => {}];
  return { read, write, remove, ids: async () => [], all: async () => all };
}

test('an incomplete PHP is a finding that names its installs and the command that adds what is missing', async () => {
  const records = recordsOf(record('shop', '8.4'), record('blog', '8.4'), record('wiki', '8.2'));
  const whole = { ...lacking(), version: '8.2' };
  const found = await inspectPhp({ layout, records }, async () => [lacking('redis', 'gd'), whole]);
  expect(found).toEqual([
    {
      thing: 'PHP 8.4',
      message: 'It lacks gd, redis, so it is not offered to installs. Installs that run on it: blog, shop.',
      repair: null,
      remedy: 'Run "homeport host php add 8.4" there.',
    },
  ]);
  expect(await inspectPhp({ layout, records }, async () => [whole])).toEqual([]);
});

test('an install whose PHP lacks redis has lost its object cache', () => {
  expect(checkObjectCache(lacking('redis'), 'shop')).toEqual([
    {
      message: 'It has no object cache, because PHP 8.4 lacks redis.',
      repair: null,
      remedy: 'Run "homeport host php add 8.4" there. Then run "homeport install php shop --restart".',
    },
  ]);
  expect([...checkObjectCache(lacking('gd'), 'shop'), ...checkObjectCache(lacking(), 'shop')]).toEqual([]);
});
