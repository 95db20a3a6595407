import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { eventually } from '../../policy/edge.fixture.ts';
import { layoutOf } from '../host-folder/layout.ts';
import type { VhostFile } from '../host-folder/vhost.ts';
import { createVhostStore, type VhostStore } from '../host-folder/vhost-store.ts';
import { createLiveVhosts } from './live-vhosts.ts';

const A = '0a000000-0000-4000-8000-000000000000';
const B = '0b000000-0000-4000-8000-000000000000';

function file(id: string, name: string): VhostFile {
  return {
    version: 1,
    id,
    name,
    hostnames: [{ name: `${name}.test`, redirectTo: null, forceHttps: false, certificate: null }],
    offload: null,
    generations: { object: 1, page: 1, cdn: 1 },
  };
}

let folder: string;
let store: VhostStore;
let clock: ManualClock;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-vhosts-'));
  store = createVhostStore(layoutOf(folder));
  clock = manualClock(new Date());
  await store.prepare(clock.now());
});
afterEach(() => rm(folder, { recursive: true }));

/** As if the system dropped notifications, or the file system gave none. */
function unwatched(of: VhostStore): VhostStore {
  return {
    ...of,
    watch: () =>
      store.watch(
        () => undefined,
        () => undefined,
      ),
  };
}

function live(of: VhostStore) {
  return createLiveVhosts({ store: of, siteDomain: 'hosting.test', clock, log: pino({ level: 'silent' }) });
}

test('an unknown name is looked up in the folder at most once a second', async () => {
  const vhosts = live(unwatched(store));
  await vhosts.start();
  expect(await vhosts.find('a.test')).toBeUndefined();
  await store.write(file(A, 'a'));
  expect(await vhosts.find('a.test')).toBeUndefined();
  clock.advance(1000);
  expect((await vhosts.find('a.test'))?.vhost.id).toBe(A);

  await store.write(file(A, 'changed'));
  await store.write(file(B, 'b'));
  clock.advance(1000);
  expect((await vhosts.find('changed.test'))?.vhost.id).toBe(A);
  expect(vhosts.known('a.test')).toBeUndefined();
  expect(vhosts.size).toBe(2);

  await store.delete(A);
  clock.advance(1000);
  await vhosts.find('unknown.test');
  expect(vhosts.known('changed.test')).toBeUndefined();
  vhosts.stop();
});

test('an unchanged folder is not reread', async () => {
  let listed = 0;
  const countedList = () => {
    listed++;
    return store.list();
  };
  const counting = { ...unwatched(store), list: countedList };
  const vhosts = live(counting);
  await vhosts.start();
  for (let round = 0; round < 10; round++) {
    clock.advance(1000);
    await vhosts.find('unknown.test');
  }
  // At the start, and then until two readings in a row are equal.
  expect(listed).toBe(3);
  vhosts.stop();
});

test('changes are noticed by watching', async () => {
  const vhosts = live(store);
  await vhosts.start();
  await store.write(file(A, 'a'));
  await eventually(() => vhosts.known('a.test') !== undefined);
  await store.delete(A);
  await eventually(() => vhosts.known('a.test') === undefined);
  vhosts.stop();
});

test('a refresh has taken effect when it returns', async () => {
  const vhosts = live(unwatched(store));
  await vhosts.start();
  for (let round = 0; round < 20; round++) {
    await store.write(file(A, `name${round}`));
    vhosts.refresh(A);
    expect(vhosts.known(`name${round}.test`)?.vhost.id).toBe(A);
    expect(vhosts.known(`name${round - 1}.test`)).toBeUndefined();
  }
  await store.delete(A);
  vhosts.refresh(A);
  expect(vhosts.known('name19.test')).toBeUndefined();
  vhosts.stop();
});

test('other files are ignored, and leftovers of interrupted writes are removed', async () => {
  const vhostFolder = layoutOf(folder).vhosts;
  await writeFile(join(vhostFolder, 'README.txt'), 'x');
  await writeFile(join(vhostFolder, '.abandoned.tmp'), 'x');
  await writeFile(join(vhostFolder, '.young.tmp'), 'x');
  await utimes(join(vhostFolder, '.abandoned.tmp'), new Date(), new Date(Date.now() - 2 * HOUR_MS));
  const vhosts = live(store);
  await vhosts.start();
  expect(vhosts.size).toBe(0);
  expect((await readdir(vhostFolder)).sort()).toEqual(['.young.tmp', 'README.txt']);
  vhosts.stop();
});
