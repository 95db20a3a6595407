import { rm } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestEdge } from '../../hosting/linux/nginx/edge-table.fixture.ts';
import { GZIP, type PageCache, startPageCache } from '../../hosting/linux/nginx/page-cache.fixture.ts';
import type { Vhost } from '../../hosting/linux/nginx/vhost.ts';
import { checkWebsite } from './check-website.ts';

let edge: TestEdge;
let shop: Vhost;
let get: PageCache['get'];
const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
beforeAll(async () => {
  ({ edge, shop, get } = await startPageCache());
});
afterAll(async () => {
  agents.http.destroy();
  agents.https.destroy();
  await edge.close();
});

const check = (wanted: 'page' | 'cached', isSecure = false) =>
  checkWebsite(
    { hostname: 'shop.test', isSecure, names: ['shop.test', 'www.shop.test'] },
    wanted,
    {
      edge: {
        address: '127.0.0.1',
        ports: { http: edge.options.edgeHttp.port, https: edge.options.edgeHttps.port },
      },
      now: new Date(),
      limitMs: 10_000,
      agents,
    },
    new AbortController().signal,
  );

test('asks nginx for the home page, and PHP only for a page', async () => {
  expect(await check('page')).toBeNull();
  expect(await check('page', true)).toBeNull();
  expect(await check('cached', true)).toBeNull();
  const { time } = await get('/', { headers: GZIP });
  expect(await check('cached')).toBeNull();

  await edge.control.purge(shop.state.id);
  const broken = await edge.write(shop.state, 'broken', '');
  // No visitor has asked for the broken page yet.
  expect(await check('cached')).toBeNull();
  expect((await get('/', { headers: GZIP })).status).toBe(500);
  expect(await check('cached')).toEqual({ cause: 'status', message: 'The home page answered 500.' });
  expect(await check('page')).toEqual({ cause: 'status', message: 'The home page answered 500.' });
  await rm(broken);
  expect(await check('page')).toBeNull();
  expect(await check('cached')).toBeNull();
  expect((await get('/', { headers: GZIP })).time).not.toBe(time);
});

test('names a PHP that is gone', async () => {
  await edge.control.purge(shop.state.id);
  await edge.daemons.remove(`php-${shop.state.id}`);
  expect(await check('page')).toEqual({ cause: 'status', message: 'The home page answered 502.' });
});
