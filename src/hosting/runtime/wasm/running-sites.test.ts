import { expect, it } from 'vitest';
import type { PhpProcess } from './php-process.ts';
import type { PhpSite } from './php-sites.ts';
import { createRunningSites } from './running-sites.ts';

const site = (id: string): PhpSite => ({
  id,
  core: '/core',
  website: `/${id}`,
  private: `/${id}/private`,
  database: `/${id}/database`,
  readOnly: {},
  prepend: '',
  limits: { memoryMb: 256, seconds: 60, uploadMb: 64, inputVars: 5_000, threads: 1 },
});

function process(): PhpProcess {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  return {
    version: '8.4.1',
    pid: 1,
    ended,
    async warmUp() {},
    async keepCode() {},
    async serve() {},
    request: () => Promise.reject(new Error('no request')),
    run: () => Promise.reject(new Error('no script')),
    runProgram: () => Promise.reject(new Error('no program')),
    async kill() {
      resolve();
    },
  };
}

it('lends the memory of a thread, and ends websites without work for it', async () => {
  const ended: string[] = [];
  const sites = createRunningSites({
    memoryMb: 760,
    idleMs: 60_000,
    waitMs: 60_000,
    async stop(id) {
      ended.push(id);
      await sites.end(id, 0);
    },
  });
  const use = (id: string) =>
    sites.use(
      site(id),
      async () => process(),
      async (_process, done) => done,
    );
  const done = await use('one');
  const release = await sites.takeThread(site('one'));
  expect(sites.isWorking('one')).toBe(true);
  (await use('idle'))();
  expect(sites.isWorking('idle')).toBe(false);
  const another = await sites.takeThread(site('one'));
  expect(ended).toEqual(['idle']);
  const third = sites.takeThread(site('one'));
  release();
  (await third)();
  another();
  done();
  await sites.endAll();
});

it('stops one idle website for another, however long its end takes and whatever happens meanwhile', async () => {
  const stopped = new Set<string>();
  const dying = Promise.withResolvers<void>();
  const sites = createRunningSites({
    memoryMb: 660,
    idleMs: 60_000,
    waitMs: 60_000,
    async stop(id) {
      stopped.add(id);
      await sites.end(id, 0);
    },
  });
  const use = (id: string) =>
    sites.use(
      site(id),
      async () => {
        const one = process();
        return { ...one, kill: () => dying.promise.then(one.kill) };
      },
      async (_process, done) => done,
    );
  for (const id of ['oldest', 'other']) (await use(id))();
  const third = use('third');
  await new Promise((resolve) => setImmediate(resolve));
  (await use('other'))();
  await new Promise((resolve) => setImmediate(resolve));
  expect([...stopped]).toEqual(['oldest']);
  dying.resolve();
  (await third)();
  expect([...stopped]).toEqual(['oldest']);
  await sites.endAll();
});

it('counts a thread of a website with a larger memory limit for what it is', async () => {
  const sites = createRunningSites({ memoryMb: 760, idleMs: 60_000, waitMs: 10, async stop() {} });
  const large = { ...site('large'), limits: { ...site('large').limits, memoryMb: 512 } };
  const use = (one: PhpSite) =>
    sites.use(
      one,
      async () => process(),
      async (_process, done) => done,
    );
  const all = [await use(site('other')), await use(site('small'))];
  await expect(sites.takeThread(large)).rejects.toMatchObject({ reason: 'busy' });
  (await sites.takeThread(site('small')))();
  for (const done of all) done();
  await sites.endAll();
});

it('starts no process of a held website, not even for a request that waits for memory', async () => {
  const started: string[] = [];
  const sites = createRunningSites({ memoryMb: 320, idleMs: 60_000, waitMs: 60_000, async stop() {} });
  const use = (id: string) =>
    sites.use(
      site(id),
      async () => {
        started.push(id);
        return process();
      },
      async (_process, done) => done,
    );
  const done = await use('other');
  const waiting = use('restored');
  const release = sites.hold('restored');
  await expect(waiting).rejects.toMatchObject({ reason: 'busy', retryAfter: 5 });
  await expect(use('restored')).rejects.toMatchObject({ reason: 'busy' });
  done();
  await sites.end('other', 0);
  sites.hold('restored')();
  expect(sites.isHeld('restored')).toBe(true);
  release();
  expect(sites.isHeld('restored')).toBe(false);
  (await use('restored'))();
  expect(started).toEqual(['other', 'restored']);
  await sites.endAll();
});

it('ends a process that only waits for a slow visitor, if another website needs its memory', async () => {
  const sites = createRunningSites({
    memoryMb: 320,
    idleMs: 60_000,
    waitMs: 60_000,
    stop: (siteId) => sites.end(siteId, 60_000),
  });
  const use = (id: string, isWaiting: boolean) =>
    sites.use(
      site(id),
      async () => process(),
      async (used, done, setWaiting) => {
        setWaiting(isWaiting);
        return { used, done, setWaiting };
      },
    );
  const slow = await use('uploading', true);
  const next = await use('other', false);
  await slow.used.ended;
  slow.setWaiting(false);
  slow.done();
  const blocked = use('third', false);
  const outcome = await Promise.race([blocked, new Promise((resolve) => setImmediate(resolve, 'waits'))]);
  expect(outcome).toBe('waits');
  next.done();
  (await blocked).done();
  await sites.endAll();
});

it('lets the requests of a paused website wait, and those of others go on', async () => {
  const started: string[] = [];
  const sites = createRunningSites({ memoryMb: 2_000, idleMs: 60_000, waitMs: 60_000, async stop() {} });
  const use = (id: string) =>
    sites.use(
      site(id),
      async () => {
        started.push(id);
        return process();
      },
      async (_process, done) => done(),
    );
  await use('paused');
  const release = sites.pause('paused');
  const waiting = use('paused');
  await sites.end('paused', 0);
  await use('other');
  expect(started).toEqual(['paused', 'other']);
  release();
  await waiting;
  expect(started).toEqual(['paused', 'other', 'paused']);
  await sites.endAll();
});

it('lets a request that is aborted wait no more, for memory or for its process', async () => {
  const sites = createRunningSites({ memoryMb: 320, idleMs: 60_000, waitMs: 60_000, async stop() {} });
  const enough = new AbortController();
  const use = (id: string, start: () => Promise<PhpProcess>) =>
    sites.use(site(id), start, async (_process, done) => done, enough.signal);
  const { promise, resolve } = Promise.withResolvers<PhpProcess>();
  const starting = use('one', () => promise);
  const waiting = use('other', async () => process());
  enough.abort(new Error('enough'));
  await expect(starting).rejects.toThrow('enough');
  await expect(waiting).rejects.toThrow('enough');
  resolve(process());
  await sites.endAll();
});

it('goes on with a process whose end is aborted, also for requests that wait', async () => {
  const sites = createRunningSites({ memoryMb: 320, idleMs: 60_000, waitMs: 60_000, async stop() {} });
  const use = () =>
    sites.use(
      site('one'),
      async () => process(),
      async (used, done) => ({ used, done }),
    );
  const running = await use();
  const enough = new AbortController();
  const ending = sites.end('one', 60_000, enough.signal);
  const waiting = use();
  enough.abort(new Error('enough'));
  await expect(ending).rejects.toThrow('enough');
  const next = await waiting;
  expect(next.used).toBe(running.used);
  await expect(sites.end('one', 0, enough.signal)).rejects.toThrow('enough');
  next.done();
  running.done();
  await sites.endAll();
});

it('ends the turn of a website that works all the time, and gives it another one', async () => {
  const started: string[] = [];
  const sites = createRunningSites({
    memoryMb: 320,
    idleMs: 60_000,
    waitMs: 4_000,
    stop: (id) => sites.end(id, 60_000),
  });
  const use = (id: string, isOwn = false) =>
    sites.use(
      site(id),
      async () => {
        started.push(id);
        return process();
      },
      async (_process, done) => done,
      undefined,
      isOwn,
    );
  let busy = await use('busy');
  let isOver = false;
  // There is a request of it at any time.
  const working = (async () => {
    while (!isOver) {
      const next = use('busy');
      await new Promise((resolve) => setTimeout(resolve, 5));
      const overlap = await Promise.race([
        next,
        new Promise<null>((resolve) => setTimeout(resolve, 20, null)),
      ]);
      // Its page in progress asks its own website, which would otherwise wait for the end of that page.
      if (overlap === null) (await use('busy', true))();
      busy();
      busy = overlap ?? (await next);
    }
    busy();
  })();
  (await use('neighbour'))();
  isOver = true;
  await working;
  expect(started).toEqual(['busy', 'neighbour', 'busy']);
  await sites.endAll();
});

it('begins as many requests of its own pages as there are pages, while its process ends', async () => {
  const sites = createRunningSites({ memoryMb: 320, idleMs: 60_000, waitMs: 60_000, async stop() {} });
  const use = (isOwn: boolean, signal?: AbortSignal) =>
    sites.use(
      site('one'),
      async () => process(),
      async (_process, done) => done,
      signal,
      isOwn,
    );
  const page = await use(false);
  const ending = sites.end('one', 60_000);
  const own = await use(true);
  for (const isOwn of [true, false]) {
    const waiting = new AbortController();
    const further = use(isOwn, waiting.signal);
    waiting.abort(new Error('still waits'));
    await expect(further).rejects.toThrow('still waits');
  }
  own();
  page();
  await ending;
  await sites.endAll();
});

it('gives memory that is free to the website that has waited longest', async () => {
  const started: string[] = [];
  const sites = createRunningSites({
    memoryMb: 320,
    idleMs: 60_000,
    waitMs: 60_000,
    stop: (id) => sites.end(id, 60_000),
  });
  const use = (id: string) =>
    sites.use(
      site(id),
      async () => {
        started.push(id);
        return process();
      },
      async (_process, done) => done,
    );
  const first = await use('first');
  const waiting = ['second', 'third', 'fourth'].map(async (id) => (await use(id))());
  first();
  // Comes back at once.
  (await use('first'))();
  await Promise.all(waiting);
  expect(started.slice(0, 4)).toEqual(['first', 'second', 'third', 'fourth']);
  await sites.endAll();
});
