import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { systemClock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { eventually } from '../../policy/edge.fixture.ts';
import type { PhpSites } from '../../runtime/wasm/php-sites.ts';
import { layoutOf } from '../host-folder/layout.ts';
import { parseVhost } from '../host-folder/vhost.ts';
import type { PurgeRequest } from './purge-requests.ts';
import { createWordPressServing } from './serving.ts';
import { DATABASE } from './site.ts';
import type { WordPressSites } from './wordpress-sites.ts';

const vhost = parseVhost(
  JSON.stringify({
    version: 1,
    id: '0a000000-0000-4000-8000-000000000000',
    name: 'shop',
    hostnames: [],
    offload: null,
    wordpress: { version: '6.8', origin: 'http://shop.hosting.test' },
    generations: { object: 1, page: 1, cdn: 1 },
  }),
  'hosting.test',
);
const noSites = new Proxy({} as WordPressSites, {
  get() {
    throw new Error('no website');
  },
});
const noPhp = new Proxy({} as PhpSites, {
  get() {
    throw new Error('no PHP');
  },
});
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'serving-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

it('takes purges one after the other, so that two requests lose none', async () => {
  const purges: { request: PurgeRequest; done(): void }[] = [];
  const layout = layoutOf(folder);
  const serving = createWordPressServing({
    layout,
    sites: noSites,
    php: noPhp,
    served: () => [],
    websiteOf: () => null,
    runCron: () => Promise.reject(new Error('nothing is due')),
    purge: (_id, request) => new Promise((done) => purges.push({ request, done })),
    log: pino({ level: 'silent' }),
    clock: systemClock,
  });
  const file = join(layout.filesOf(vhost.id), '.private/purges');
  await mkdir(join(file, '..'), { recursive: true });
  const change = (path: string) => appendFile(file, `${JSON.stringify({ paths: [path] })}\n`);
  await change('/one/');
  const first = serving.settle(vhost);
  await eventually(() => purges.length === 1);
  await change('/two/');
  const second = serving.settle(vhost);
  await change('/three/');
  purges[0]?.done();
  await first;
  await eventually(() => purges.length === 2);
  purges[1]?.done();
  await second;
  expect(purges.map(({ request }) => request)).toEqual([
    { paths: ['/one/'] },
    { paths: ['/two/', '/three/'] },
  ]);
});

it('ends PHP at once when it stops, even while a task waits for requests of its website', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const layout = layoutOf(folder);
  // Nothing runs in a website without its data.
  await mkdir(join(layout.filesOf(vhost.id), 'wp-content'), { recursive: true });
  await writeFile(join(layout.filesOf(vhost.id), 'wp-config.php'), '');
  await mkdir(layout.databaseOf(vhost.id), { recursive: true });
  await writeFile(join(layout.databaseOf(vhost.id), DATABASE), '');
  const clock = manualClock();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const stopped: string[] = [];
  const website = {
    id: vhost.id,
    facts: { version: '6.8', origin: 'http://shop.hosting.test', passKey: null },
  };
  const serving = createWordPressServing({
    layout,
    sites: noSites,
    php: Object.assign(Object.create(noPhp), {
      isHeld: () => false,
      rest(id: string) {
        stopped.push(id);
        return closed;
      },
      close: async () => close(),
    }),
    served: () => [website.id],
    websiteOf: () => website,
    runCron: async () => ({ exit: 0, output: 'done', nextMs: null }),
    purge: async () => {},
    log: pino({ level: 'silent' }),
    clock,
  });
  serving.start();
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  clock.advance(5 * MINUTE_MS);
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  await vi.waitFor(() => expect(stopped).toEqual([vhost.id]));
  await serving.stop();
});
