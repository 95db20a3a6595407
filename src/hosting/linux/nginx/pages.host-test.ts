import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Asked, eventually } from '../../policy/edge.fixture.ts';
import { PASSING_HEADERS } from '../../policy/page-request-headers.ts';
import { tablePaths } from './edge-options.ts';
import type { TestEdge } from './edge-table.fixture.ts';
import { BROWSER, GZIP, header, type PageCache, startPageCache, timesOf } from './page-cache.fixture.ts';
import { siteState } from './test-installs.fixture.ts';
import type { Vhost } from './vhost.ts';

// What the page cache keeps.

let edge: TestEdge;
let shop: Vhost;
let get: PageCache['get'];
let fresh: PageCache['fresh'];
let second: PageCache['second'];
beforeAll(async () => {
  ({ edge, shop, get, fresh, second } = await startPageCache());
});
afterAll(() => edge.close());

describe('what is kept', () => {
  test('a page, for all visitors, by scheme, name, port and query', async () => {
    const path = fresh();
    const { time, cache } = await get(path);
    expect(cache).toBe('MISS');
    expect(await get(path)).toMatchObject({ time, cache: 'HIT' });
    const other = { headers: { Cookie: 'theme=dark', 'User-Agent': 'other' } };
    expect(await get(path, other)).toMatchObject({ time, cache: 'HIT' });
    for (const [address, name] of [
      [`${path}&x`, 'shop.test'],
      [path, 'www.shop.test'],
      [path, 'shop.test:1234'],
      [path, 'blog.test'],
    ] as const) {
      expect((await get(address, {}, name)).cache).toBe('MISS');
    }
    expect((await edge.https('shop.test', path)).headers['x-cache']).toBe('MISS');
  });

  test('compressed once, as each visitor accepts it', async () => {
    const path = fresh(`server&fill=${'x'.repeat(600)}`);
    const { time } = await get(path, { headers: BROWSER });
    for (const [accepted, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['BR', 'br'],
      ['gzip', 'gzip'],
      ['gzip, br;q=0', 'gzip'],
      ['deflate', undefined],
      ['br;q=0.0,gzip;q=0', undefined],
      ['', undefined],
    ] as const) {
      const page = await get(path, { headers: { 'Accept-Encoding': accepted } });
      expect(page, accepted).toMatchObject({ time, encoding, headers: { vary: 'Accept-Encoding' } });
      const again = await get(path, { headers: { 'Accept-Encoding': accepted } });
      expect(again, accepted).toMatchObject({ time, encoding, cache: 'HIT' });
    }
  });

  test('visitors who miss a page in any variant cause one request to PHP', async () => {
    const path = fresh(`wait=150&server&fill=${'x'.repeat(600)}`);
    const variants = [BROWSER, GZIP, {}];
    const asked = Array.from({ length: 24 }, (_, n) => get(path, { headers: variants[n % 3] ?? {} }));
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(timesOf(answers).size).toBe(1);
  });

  test('HEAD takes from it and never puts an empty page in', async () => {
    const path = fresh();
    expect((await edge.http('shop.test', path, { method: 'HEAD' })).headers['x-cache']).toBe('MISS');
    expect(await get(path)).toMatchObject({ cache: 'HIT', php: { REQUEST_METHOD: 'GET' } });
  });

  test('a part of it is not sent, since the whole may be another by the next part', async () => {
    const path = fresh(header('Accept-Ranges: bytes'));
    for (const cache of ['MISS', 'HIT']) {
      expect(await get(path, { headers: { Range: 'bytes=0-3' } })).toMatchObject({ status: 200, cache });
    }
  });

  test('redirects and missing pages; errors are not', async () => {
    for (const status of [301, 302, 404]) {
      expect(await second(fresh(`status=${status}&${header('Location: /x')}`)), `${status}`).toBe('HIT');
    }
    for (const status of [303, 403, 500, 503]) {
      expect(await second(fresh(`status=${status}`)), `${status}`).toBe('BYPASS');
    }
  });

  test('its headers for visitors are those of PHP', async () => {
    const lines = ['Cache-Control: max-age=30', 'Vary: Cookie, Accept-Encoding', 'X-Accel-Expires: 20'];
    const path = fresh([...lines, 'X-Page-Until: 9', 'X-Page-Cache-Control: poison'].map(header).join('&'));
    for (const cache of ['MISS', 'HIT']) {
      for (const headers of [{}, GZIP]) {
        const page = await get(path, { headers });
        expect(page.headers).toMatchObject({
          'cache-control': 'max-age=30',
          vary: 'Cookie, Accept-Encoding',
        });
        for (const name of ['x-page-until', 'x-page-stale', 'x-page-cache-control', 'x-accel-expires']) {
          expect(page.headers, cache).not.toHaveProperty(name);
        }
      }
    }
    expect((await get(path, { headers: { Cookie: 'theme=dark' } })).cache).toBe('HIT');
  });

  test('scripts beside index.php, by path info too', async () => {
    const script = '<?php echo json_encode(["time" => hrtime(true)] + $_SERVER);';
    await edge.write(shop.state, 'app/run.php', script);
    expect((await get('/app/run.php/a/b?c')).php).toMatchObject({
      SCRIPT_NAME: '/app/run.php',
      PATH_INFO: '/a/b',
      REQUEST_URI: '/app/run.php/a/b?c',
      QUERY_STRING: 'c',
    });
    expect(await second('/app/run.php')).toBe('HIT');
    expect((await get('/app/missing.php')).status).toBe(404);
    const odd = 'app/a\r\nX-Edge-Php: unix:\r\n.php';
    await edge.write(shop.state, odd, script);
    expect(await get(`/${encodeURI(odd)}`)).toMatchObject({ status: 200, cache: 'BYPASS' });
  });
});

describe('what is not kept', () => {
  test.each([
    'wordpress_logged_in_abc=1',
    'wp-postpass_abc=1',
    'comment_author_abc=me',
    'woocommerce_items_in_cart=1',
    'woocommerce_cart_hash=abc',
    'wp_woocommerce_session_abc=1',
    'edd_items_in_cart=1',
    'comment author_abc=me',
    'wordpress.logged[in_abc=1',
    'nocache=1',
    'wordpress_no_cache=1',
    'NO_CACHE=1',
    'PHPSESSID=abc',
    'quote-cart=1',
    'my.session id=1',
    'member_login_token=1',
  ])('for visitors with the cookie %s', async (cookie) => {
    const path = fresh();
    const { time } = await get(path);
    const own = await get(path, { headers: { Cookie: `theme=dark; ${cookie}` } });
    expect(own.cache).toBe('BYPASS');
    expect(own.time).not.toBe(time);
    const shared = 'theme=nocache; _hjSession=1; sbjs_session=1; cartoon=login; intercom-session-x=1';
    expect(await get(path, { headers: { Cookie: shared } })).toMatchObject({ time, cache: 'HIT' });
  });

  test('for visitors with such a cookie after a tab, which PHP skips', async () => {
    expect(await second(fresh(), { headers: { Cookie: '\tcomment_author_abc=me' } })).toBe('BYPASS');
  });

  test.each([
    '/wp-admin/',
    '/wp-json/wp/v2/posts',
    '/?rest_route=/wp/v2/posts',
    '/?%72est.route=/wp/v2/posts',
    '/wp%2Djson/wp/v2/posts',
    '/cart/',
    '/checkout',
    '/shop/my-account/orders/',
  ])('%s', async (path) => {
    expect(await second(path)).toBe('BYPASS');
  });

  test('with credentials, a body, and by other methods', async () => {
    const path = fresh();
    const { time } = await get(path);
    const ways: Asked[] = [
      { headers: { Authorization: 'Basic eDp5' } },
      { method: 'POST', body: 'a=b' },
      { headers: { 'Content-Length': '3' }, body: 'a=b' },
      { method: 'OPTIONS' },
      { headers: { 'X-Requested-With': 'XMLHttpRequest' } },
      { headers: { Accept: 'application/json, */*' } },
      { headers: { Accept: 'text/event-stream' } },
      ...PASSING_HEADERS.map((name): Asked => ({ headers: { [name]: 'x' } })),
    ];
    for (const asked of ways) {
      const page = await get(path, asked);
      expect(page, JSON.stringify(asked)).toMatchObject({ status: 200, cache: 'BYPASS' });
      expect(page.time).not.toBe(time);
    }
  });

  test.each([
    'cookie=1',
    header('Cache-Control: no-store'),
    header('Cache-Control: private'),
    header('Expires: Wed, 11 Jan 1984 05:00:00 GMT'),
    header('Vary: *'),
    header('Vary: User-Agent'),
    header('X-Accel-Expires: 0'),
  ])('where PHP says so: %s', async (query) => {
    const path = fresh(query);
    const answers = await Promise.all(Array.from({ length: 4 }, () => get(path)));
    expect(timesOf(answers).size).toBe(4);
    expect((await get(path)).cache).toBe('BYPASS');
  });

  test('for longer than PHP says; it is shown while it is made again', async () => {
    const path = fresh(`${header('Cache-Control: max-age=1')}&held`);
    const goOn = await edge.write(shop.state, 'go-on', '');
    const variants = [BROWSER, GZIP, {}];
    const { time } = await get(path, { headers: GZIP });
    for (const headers of variants) await get(path, { headers });
    await rm(goOn);
    await sleep(2_100);
    // PHP does not answer before it may go on.
    expect(await get(path, { headers: GZIP })).toMatchObject({ time, cache: 'STALE' });
    await edge.write(shop.state, 'go-on', '');
    for (const headers of variants) {
      await eventually(async () => (await get(path, { headers })).time !== time);
    }
    await rm(goOn);
  });

  test('if it has a fragment, which no browser sends', async () => {
    expect((await get('/page#fragment')).status).toBe(400);
  });

  test('and then PHP sees the cookies of its visitors', async () => {
    const path = fresh(`cookie=1&server`);
    const headers = { Cookie: 'theme=dark' };
    expect((await get(path, { headers })).php.HTTP_COOKIE).toBeUndefined();
    expect((await get(path, { headers })).php.HTTP_COOKIE).toBe('theme=dark');
  });

  test('for a moment only if PHP refuses the visitor, perhaps for the address', async () => {
    const path = fresh('status=403');
    expect(await second(path)).toBe('BYPASS');
    await eventually(async () => (await get(path)).cache === 'MISS');
  });
});

describe('campaigns', () => {
  test('their parameters share one page, and PHP does not see them', async () => {
    const path = fresh('a=1');
    const first = await get(`${path}&utm_source=x&gclid=2`);
    expect(first.php).toMatchObject({ REQUEST_URI: path, QUERY_STRING: 'a=1' });
    for (const query of ['', '&fbclid=3', '&utm_campaign=y&msclkid=4']) {
      expect(await get(`${path}${query}`)).toMatchObject({ time: first.time, cache: 'HIT' });
    }
    const own = await get(`${path}&gclid=5`, { headers: { Cookie: 'nocache=1' } });
    expect(own.php).toMatchObject({ QUERY_STRING: 'a=1&gclid=5' });
  });

  test('a redirect on the same host gives each visitor their own back', async () => {
    const [stays, leaves] = ['http://shop.test:1234/x?b', 'https://other.test/'].map((target) =>
      fresh(`status=301&${header(`Location: ${target}`)}`),
    );
    for (const campaign of ['gclid=1', 'utm_source=2']) {
      const answer = await get(`${stays}&${campaign}`, {}, 'shop.test:1234');
      expect(answer.headers.location).toBe(`http://shop.test:1234/x?b&${campaign}`);
      expect((await get(`${leaves}&${campaign}`)).headers.location).toBe('https://other.test/');
    }
    expect((await get(`${stays}`, {}, 'shop.test:1234')).headers.location).toBe('http://shop.test:1234/x?b');
  });
});

test('a row that Lua cannot use costs its own requests only', async () => {
  const odd = await edge.makeInstall(siteState('odd', ['odd.test']), { php: false });
  const row = await edge.serve(odd);
  const { pages: _without, ...rest } = row;
  await writeFile(join(tablePaths(edge.layout).installs, `${odd.state.id}.json`), JSON.stringify(rest));
  await edge.control.installChanged(odd.state.id);
  expect((await edge.http('odd.test', '/')).status).toBe(500);
  expect((await get(fresh())).status).toBe(200);
});
