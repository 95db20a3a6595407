import { once } from 'node:events';
import { rm, stat, truncate } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../policy/edge.fixture.ts';
import { EDGE_SIZES } from './edge-options.ts';
import { startEdge, type TestEdge } from './edge-table.fixture.ts';
import { siteState } from './test-installs.fixture.ts';
import type { Vhost } from './vhost.ts';

// What strangers and tenants can use up of the page cache, and of the log of requests.

const WAITERS = { page: 40, install: 70, address: 30 };
const QUERIES = 12;
const PURGED_PATHS = 20;
const USAGE_LOG = 20_000;
/** The least that a stored file counts. */
const FILE = 16_384;

let edge: TestEdge;
let shop: Vhost;
beforeAll(async () => {
  const sizes = {
    ...EDGE_SIZES,
    waiters: WAITERS,
    queries: QUERIES,
    purgedPaths: PURGED_PATHS,
    purges: '64k',
    usageLog: USAGE_LOG,
  };
  edge = await startEdge({ sizes });
  shop = await website('shop');
});
afterAll(() => edge.close());

/** Stores at most this number of the smallest files. */
async function website(name: string, files = 10_000): Promise<Vhost> {
  const vhost = await edge.makeInstall(siteState(name, [`${name}.test`]));
  await edge.serve(vhost, { pages: { ...edge.rowOf(vhost).pages, mostBytes: files * FILE } });
  return vhost;
}

interface Visit {
  status: number;
  cache: string | undefined;
  retryAfter: string | undefined;
  body: string;
}

let visitors = 1;
/** An address that no visitor had before. */
const stranger = () => `127.1.${++visitors >> 8}.${visitors & 255}`;

/** Asks for a compressed page, from another address each time unless told. */
async function visit(hostname: string, path: string, from = stranger()): Promise<Visit> {
  const { host, port } = edge.options.edgeHttp;
  const headers = { Host: hostname, 'Accept-Encoding': 'gzip' };
  const asked = request({ host, port, path, localAddress: from, headers, agent: false }).end();
  const [response]: IncomingMessage[] = await once(asked, 'response');
  if (response === undefined) throw new Error('no response');
  const cache = response.headers['x-cache'];
  return {
    status: response.statusCode ?? 0,
    cache: cache === undefined ? cache : String(cache),
    retryAfter: response.headers['retry-after'],
    body: await text(response),
  };
}

async function caches(hostname: string, paths: string[], from?: string): Promise<(string | undefined)[]> {
  const found = [];
  for (const path of paths) found.push((await visit(hostname, path, from)).cache);
  return found;
}

/**
 * Asks for new pages until one is not stored, and returns those that were. nginx counts a file once it has answered, so there may be
 * one more than the limit.
 */
async function fill(hostname: string, pathOf: (n: number) => string, from?: string): Promise<string[]> {
  const stored: string[] = [];
  for (;;) {
    const path = pathOf(stored.length);
    await visit(hostname, path, from);
    if ((await visit(hostname, path, from)).cache !== 'HIT') return stored;
    stored.push(path);
    expect(stored.length).toBeLessThan(100);
  }
}

describe('what an install stores', () => {
  test('queries of strangers leave room for pages without, and for those that are known', async () => {
    const { state } = await website('queries', 16);
    const brief = '/?header[]=Cache-Control:max-age%3D1,stale-while-revalidate%3D0';
    expect(await caches('queries.test', [brief])).toEqual(['MISS']);
    const queries = await fill('queries.test', (n) => `/?${n}`);
    expect(queries.length).toBeGreaterThan(0);
    const [first = '', second = '', ...others] = await fill('queries.test', (n) => `/page-${n}/`);
    expect(others.length).toBeGreaterThan(0);
    expect(await caches('queries.test', [first, ...queries])).toEqual(['HIT', ...queries.map(() => 'HIT')]);
    // What has expired may be made again.
    await sleep(2_100);
    expect(await caches('queries.test', [brief, brief])).toEqual(['MISS', 'HIT']);
    // Known pages have room of their own after a purge.
    await edge.control.purge(state.id);
    expect(await caches('queries.test', [first, '/new/', second, first, second])).toEqual([
      'MISS',
      'BYPASS',
      'MISS',
      'HIT',
      'HIT',
    ]);
    // Purges cannot make it store more and more.
    await eventually(async () => {
      await edge.control.purge(state.id);
      return (await visit('queries.test', first)).cache === 'BYPASS';
    });
  });

  test('missing paths leave room for pages', async () => {
    const { state } = await website('missing', 16);
    const script =
      "<?php header('Content-Type: text/html'); if ($_SERVER['REQUEST_URI'] !== '/') http_response_code(404);";
    await edge.write(state, 'index.php', script);
    expect((await fill('missing.test', (n) => `/${n}`)).length).toBeGreaterThan(0);
    expect(await caches('missing.test', ['/', '/'])).toEqual(['MISS', 'HIT']);
  });

  test('one address fills an eighth', async () => {
    await website('address', 64);
    const from = stranger();
    const [first = ''] = await fill('address.test', (n) => `/${n}`, from);
    expect(await caches('address.test', [first, '/new', '/new'], from)).toEqual(['HIT', 'BYPASS', 'BYPASS']);
    expect(await caches('address.test', ['/new', '/new'])).toEqual(['MISS', 'HIT']);
  });
});

test('one address asks PHP for so many queries only, and for everything else', async () => {
  await website('asked');
  const from = stranger();
  const paths = Array.from({ length: QUERIES }, (_, n) => `/?${n}`);
  expect(new Set(await caches('asked.test', paths, from))).toEqual(new Set(['MISS']));
  expect(await visit('asked.test', '/?more', from)).toMatchObject({ status: 429, retryAfter: '10' });
  for (const path of ['/?1', '/', '/new']) expect((await visit('asked.test', path, from)).status).toBe(200);
  expect((await visit('asked.test', '/?more')).cache).toBe('MISS');
});

test('visitors wait in limited numbers for a page, at an install, and from one address', async () => {
  const refused: Visit[] = [];
  const others: Promise<Visit>[] = [];
  const ask = (path: string, count: number) => {
    const from = stranger();
    for (let n = 0; n < count; n++) {
      const asked = visit('shop.test', path, from);
      others.push(asked);
      void asked.then((answer) => answer.status === 503 && refused.push(answer));
    }
  };
  // The first of a page makes it.
  ask('/?held=1', WAITERS.address + 1 + 5);
  await expect.poll(() => refused.length).toBe(5);
  ask('/?held=1', WAITERS.page - WAITERS.address + 4);
  await expect.poll(() => refused.length).toBe(9);
  ask('/?held=2', WAITERS.address + 1 + 3);
  await expect.poll(() => refused.length).toBe(12);
  ask('/?held=2', 2);
  await expect.poll(() => refused.length).toBe(14);
  expect(refused[0]).toMatchObject({ retryAfter: '5', body: expect.stringContaining('very busy') });
  // Other websites are not concerned.
  await website('idle');
  expect((await visit('idle.test', '/')).status).toBe(200);
  const goOn = await edge.write(shop.state, 'go-on', '');
  const answers = await Promise.all(others);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(WAITERS.install + 2);
  expect((await visit('shop.test', '/?held=1')).cache).toBe('HIT');
  await rm(goOn);
});

describe('purged paths', () => {
  const paths = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `/${prefix}/${n}`);

  test('beyond its share, all pages of the install are made anew', async () => {
    const { state } = await website('many');
    await caches('many.test', ['/1', '/2']);
    await caches('shop.test', ['/1']);
    await edge.control.purgePages(state.id, ['/1', ...paths(PURGED_PATHS - 1, 'x')]);
    expect(await caches('many.test', ['/1', '/2'])).toEqual(['MISS', 'HIT']);
    // Known ones take no more room.
    await edge.control.purgePages(state.id, ['/1', '/x/0']);
    expect(await caches('many.test', ['/1', '/2'])).toEqual(['MISS', 'HIT']);
    await edge.control.purgePages(state.id, ['/y']);
    expect(await caches('many.test', ['/1', '/2'])).toEqual(['MISS', 'MISS']);
    expect(await caches('shop.test', ['/1'])).toEqual(['HIT']);
  });

  test('without memory for them, all pages of the install, and no page of another', async () => {
    await caches('shop.test', ['/1', '/2']);
    await edge.control.purgePages(shop.state.id, ['/1']);
    await caches('shop.test', ['/1']);
    for (let n = 0; n < 20; n++) {
      await edge.control.purgePages(crypto.randomUUID(), paths(PURGED_PATHS, 'long'));
    }
    const { state } = await website('late');
    await caches('late.test', ['/1', '/2']);
    await edge.control.purgePages(state.id, ['/1']);
    expect(await caches('late.test', ['/1', '/2'])).toEqual(['MISS', 'MISS']);
    expect(await caches('shop.test', ['/1', '/2'])).toEqual(['HIT', 'HIT']);
  });

  test('in a list that is longer than one call to nginx', async () => {
    const { state } = await website('long');
    await caches('long.test', ['/1']);
    await edge.control.purgePages(state.id, [...paths(1_000, 'x'.repeat(100)), '/1']);
    expect(await caches('long.test', ['/1'])).toEqual(['MISS']);
  });
});

test('the log of requests stops growing while the host process does not take it', async () => {
  const { usageLog } = edge.options;
  const size = async () => (await stat(usageLog)).size;
  const visitAndWait = async () => {
    await Promise.all(Array.from({ length: 20 }, () => visit('shop.test', '/')));
    // nginx writes its lines every second.
    await sleep(1_100);
    return size();
  };
  await eventually(async () => (await size()) >= USAGE_LOG && (await size()) === (await visitAndWait()));
  await truncate(usageLog);
  await eventually(async () => (await visitAndWait()) > 0);
});
