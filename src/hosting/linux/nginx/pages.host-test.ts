import { once } from 'node:events';
import { readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Asked, eventually } from '../../policy/edge.fixture.ts';
import { PAGE_PURGE_CASES, PURGED_PATHS } from '../../policy/page-path.fixture.ts';
import { PASSING_HEADERS } from '../../policy/page-request-headers.ts';
import { runCommand } from '../machine/run-command.ts';
import { EDGE_SIZES, tablePaths } from './edge-options.ts';
import { startEdge, type TestEdge } from './edge-table.fixture.ts';
import { siteState } from './test-installs.fixture.ts';
import type { Vhost } from './vhost.ts';
import { workersOf } from './worker-processes.ts';

let edge: TestEdge;
let shop: Vhost;
let blog: Vhost;
beforeAll(async () => {
  edge = await startEdge({ sizes: { ...EDGE_SIZES, queries: 100_000 } });
  shop = await edge.makeInstall(siteState('shop', ['shop.test', 'www.shop.test']));
  blog = await edge.makeInstall(siteState('blog', ['blog.test']));
  for (const vhost of [shop, blog]) await edge.serve(vhost);
});
afterAll(() => edge.close());

const BROWSER = { 'Accept-Encoding': 'gzip, deflate, br, zstd' };
const GZIP = { 'Accept-Encoding': 'gzip' };

interface Page {
  status: number;
  cache: string | undefined;
  encoding: string | undefined;
  /** When PHP made it; undefined if PHP did not. */
  time: number | undefined;
  php: Record<string, string | undefined>;
  headers: IncomingMessage['headers'];
}

async function get(path: string, asked: Asked = {}, hostname = 'shop.test'): Promise<Page> {
  const answer = await edge.http(hostname, path, asked);
  const { status, headers, bytes } = answer;
  const encoding = headers['content-encoding'];
  const content = encoding === 'br' ? brotliDecompressSync(bytes).toString() : answer.text;
  const php = content.startsWith('{') ? JSON.parse(content) : {};
  const cache = headers['x-cache'];
  return {
    status,
    cache: cache === undefined ? cache : String(cache),
    encoding,
    time: php.time,
    php,
    headers,
  };
}

let pages = 0;
/** A path that no test has asked for before. */
const fresh = (query = '') => `/page-${++pages}/?${query}`;

/** How the second request for it is answered. */
async function second(path: string, asked: Asked = {}): Promise<string | undefined> {
  await get(path, asked);
  return (await get(path, asked)).cache;
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
const timesOf = (answers: Page[]) => new Set(answers.map(({ time }) => time));
const header = (line: string) => `header[]=${encodeURIComponent(line)}`;

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

describe('PHP that fails', () => {
  /** A page that may be shown for a second, once that is over, in all variants. */
  async function expired(hostname: string): Promise<{ path: string; time: number | undefined }> {
    const path = fresh(`${header('Cache-Control: max-age=1, stale-while-revalidate=0')}`);
    const { time } = await get(path, { headers: BROWSER }, hostname);
    await sleep(2_100);
    return { path, time };
  }

  test('is not hidden unless the customer wants that', async () => {
    const { path } = await expired('blog.test');
    const broken = await edge.write(blog.state, 'broken', '');
    expect((await get(path, {}, 'blog.test')).status).toBe(500);
    await rm(broken);
  });

  test('then shows the last good page, but never one from before a purge', async () => {
    const kept = await edge.makeInstall(siteState('kept', ['kept.test']));
    await edge.serve(kept, { pages: { ...edge.rowOf(kept).pages, staleIfError: true, mostBytes: 1e9 } });
    const { path, time } = await expired('kept.test');
    const broken = await edge.write(kept.state, 'broken', '');
    for (const headers of [BROWSER, GZIP, {}, BROWSER]) {
      const page = await get(path, { headers }, 'kept.test');
      expect(page).toMatchObject({ status: 200, time, cache: 'STALE' });
      if (!('Accept-Encoding' in headers)) expect(page.encoding).toBeUndefined();
    }
    // A page that was never good.
    expect((await get(fresh(), {}, 'kept.test')).status).toBe(500);
    await rm(broken);
    await edge.daemons.remove(`php-${kept.state.id}`);
    await eventually(async () => (await get(path, {}, 'kept.test')).time === time);
    expect((await get(fresh(), {}, 'kept.test')).status).toBe(502);
    await edge.control.purge(kept.state.id);
    expect((await get(path, {}, 'kept.test')).status).toBe(502);
  });

  test('is asked again once it works', async () => {
    const path = fresh('held');
    const broken = await edge.write(shop.state, 'broken', '');
    const goOn = await edge.write(shop.state, 'go-on', '');
    const answers = await Promise.all(Array.from({ length: 6 }, () => get(path)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([500]));
    await rm(broken);
    await eventually(async () => (await get(path)).cache === 'HIT');
    await rm(goOn);
  });

  test('a page whose maker was lost with its worker is made again, and kept', async () => {
    await edge.write(
      shop.state,
      'lost.php',
      `<?php touch(__DIR__ . '/begun');
while (!is_file(__DIR__ . '/go-on')) { usleep(1000); clearstatcache(); }
header('Content-Type: text/html'); echo 'made';`,
    );
    const lost = edge.http('shop.test', '/lost.php').catch(() => null);
    await eventually(() => isThere(join(edge.layout.htdocsOf(shop.state.id), 'begun')));
    const nginx = (await edge.daemons.list()).find(({ name }) => name === 'nginx');
    for (const pid of (await workersOf(nginx?.pid ?? 0)).all) process.kill(pid, 'SIGKILL');
    expect(await lost).toBeNull();
    const goOn = await edge.write(shop.state, 'go-on', '');
    const caches = [];
    for (let visit = 0; visit < 2; visit++) {
      const { headers } = await edge.http('shop.test', '/lost.php');
      caches.push(headers['x-cache']);
    }
    expect(caches).toEqual(['MISS', 'HIT']);
    await rm(goOn);
  });

  test('an answer that breaks off is not kept, and another visitor may try', async () => {
    await edge.write(
      shop.state,
      'breaks.php',
      `<?php header('Content-Type: text/html'); header('Content-Length: 5000000');
echo str_repeat('x', 1000000); flush();
if (is_file(__DIR__ . '/broken')) { posix_kill(posix_getpid(), 9); }
echo str_repeat('x', 4000000);`,
    );
    const broken = await edge.write(shop.state, 'broken', '');
    await expect(edge.http('shop.test', '/breaks.php')).rejects.toThrow('aborted');
    await rm(broken);
    await eventually(async () => (await edge.http('shop.test', '/breaks.php')).status === 200);
    expect((await edge.http('shop.test', '/breaks.php')).bytes).toHaveLength(5_000_000);
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

describe('what PHP learns through the inner servers', () => {
  /** Sends a request with these header lines from an address; returns the whole response. */
  async function send(path: string, lines: string[], from = '127.0.0.1'): Promise<string> {
    const { port } = edge.options.edgeHttp;
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    socket.write(
      [`GET ${path} HTTP/1.1`, 'Host: shop.test:81', 'Connection: close', ...lines, '', ''].join('\r\n'),
    );
    return text(socket);
  }

  test('the visitor, the scheme and the name as they are', async () => {
    const { port } = edge.options.edgeHttp;
    const answer = await send(fresh('server'), [], '127.0.0.3');
    expect(answer).toContain('"REMOTE_ADDR":"127.0.0.3"');
    expect(answer).toContain('"HTTP_X_FORWARDED_FOR":"127.0.0.3"');
    expect((await get(fresh(), { headers: BROWSER }, 'shop.test:81')).php).toMatchObject({
      HTTP_HOST: 'shop.test:81',
      SERVER_NAME: 'shop.test',
      SERVER_PORT: `${port}`,
      SCRIPT_FILENAME: join(edge.layout.htdocsOf(shop.state.id), 'index.php'),
    });
    const secure = JSON.parse((await edge.https('shop.test', fresh())).text);
    expect(secure).toMatchObject({ HTTPS: 'on', SERVER_PORT: `${edge.options.edgeHttps.port}` });
    expect((await get(fresh())).php).not.toHaveProperty('HTTPS');
  });

  test.each([['gzip'], ['br']])('nothing that a visitor says about them (%s)', async (accepted) => {
    const names = ['Page', 'Install', 'Last', 'Php', 'Root', 'Script', 'Path-Info', 'Document-Uri', 'Host'];
    const more = ['Scheme', 'Https', 'Protocol', 'Address', 'Port', 'Server-Address', 'Server-Port'];
    const edgeHeaders = [...names, ...more].flatMap((name) => [
      `X-Edge-${name}`,
      `x_edge_${name.replaceAll('-', '_')}`,
    ]);
    const forwarded = [
      'Forwarded',
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'X-Forwarded-Proto',
      'X-Original-URL',
    ];
    const others = [
      'X-Rewrite-URL',
      'X-Host',
      'X-HTTP-Method-Override',
      'X-Real-IP',
      'CF-Connecting-IP',
      'Proxy',
    ];
    const path = fresh('server');
    const lines = [...edgeHeaders, ...forwarded, ...others].map((name) => `${name}: poison`);
    const accepting = `Accept-Encoding: ${accepted}`;
    expect(await send(path, [...lines, 'X-Php: poison', accepting])).toMatch(/X-Cache: MISS/);
    const next = await send(path, [], '127.0.0.2');
    expect(next).toMatch(/X-Cache: (HIT|MISS)/);
    expect(next.replace('"HTTP_X_PHP":"poison"', '')).not.toContain('poison');
    expect(next).not.toContain('HTTP_X_EDGE');
  });

  test.each([
    'Cookie: theme=poison',
    'User-Agent: poison (iPhone; Mobile)',
    'Accept: text/html;poison',
    'Accept-Language: poison',
    'Accept-Charset: poison',
    'Referer: http://poison/',
    'Range: bytes=0-poison',
    'If-None-Match: poison',
    'Prefer: poison',
    'Purpose: poison',
    'Save-Data: poison',
    'DNT: poison',
    'Sec-CH-UA-Mobile: poison',
    'X-Requested-With: com.poison',
    'X-HTTP-Method-Override: poison',
    'X-Forwarded-Host: poison',
    'X-Original-URL: /poison',
    'CF-IPCountry: poison',
    'X-GeoIP-Country: poison',
    'X-Anything: poison',
    'X-Edge-Php: poison\r\nConnection: X-Edge-Page, X-Edge-Php, Host, close',
    'X_Edge_Php: poison',
    ...PASSING_HEADERS.map((name) => `${name}: poison`),
  ])('no header of one visitor shapes the page of the next: %s', async (line) => {
    const path = fresh('server');
    await send(path, [line]);
    const next = await send(path, []);
    expect(next).toMatch(/^HTTP\/1.1 200 /);
    expect(next.toLowerCase()).not.toContain('poison');
    // Requests for something else reach PHP as they are.
    const passes = PASSING_HEADERS.some((name) => line.startsWith(`${name}:`));
    expect(next).toContain(`X-Cache: ${passes ? 'MISS' : 'HIT'}`);
  });

  describe('PHP that answers with a status of no answer', () => {
    beforeAll(async () => {
      const script = "<?php header('HTTP/1.1 ' . $_GET['status'] . ' X'); echo 'HTTP/1.1 200 Split';";
      await edge.write(shop.state, 'status.php', script);
      await edge.write(blog.state, 'secret.php', '<?php echo "se", "cret";');
    });

    /** Sends requests one after the other on one connection, each once something has come for the one before. */
    async function converse(requests: string[]): Promise<string> {
      const socket = connect({ port: edge.options.edgeHttp.port, host: '127.0.0.1' });
      let answers = '';
      socket.on('data', (part: Buffer) => {
        answers += part.toString('latin1');
        const next = requests.shift();
        if (next === undefined) socket.end();
        else socket.write(next);
      });
      socket.write(requests.shift() ?? '');
      await once(socket, 'close');
      return answers;
    }

    test.each([
      ['gzip', ''],
      ['br', ''],
      ['', 'Cookie: nocache=1'],
    ])('lets no visitor speak to an inner server (%s %s)', async (accepted, line) => {
      const lines = [`Accept-Encoding: ${accepted}`, 'Upgrade: x', 'Connection: upgrade', line].filter(
        Boolean,
      );
      const path = `/status.php?status=101&${pages++}`;
      const inner = {
        Host: 'shop.test',
        'X-Edge-Page': 'x',
        'X-Edge-Install': shop.state.id,
        'X-Edge-Php': `unix:${edge.layout.phpSocketOf(blog.state.id)}`,
        'X-Edge-Root': edge.layout.htdocsOf(blog.state.id),
        'X-Edge-Script': '/secret.php',
        Connection: 'close',
      };
      const answers = await converse([
        [`GET ${path} HTTP/1.1`, 'Host: shop.test', ...lines, '', ''].join('\r\n'),
        [
          'GET /secret.php HTTP/1.1',
          ...Object.entries(inner).map(([name, value]) => `${name}: ${value}`),
          '',
          '',
        ].join('\r\n'),
      ]);
      expect(answers).toMatch(/^HTTP\/1.1 502 /);
      expect(answers).not.toContain('secret');
    });

    test.each([100, 103, 199, 600, 1000])('cannot begin another answer: %d', async (status) => {
      for (const headers of [GZIP, BROWSER, { Cookie: 'nocache=1' }]) {
        const path = `/status.php?status=${status}&${pages++}`;
        expect((await edge.http('shop.test', path, { headers })).status).toBe(502);
      }
    });
  });

  test('strangers do not reach the inner servers', async () => {
    for (const socket of [edge.options.run.innerSocket, edge.options.run.primarySocket]) {
      const curl = ['/usr/bin/curl', '--silent', '--max-time', '5', '--unix-socket', socket, 'http://x/'];
      const asStranger = ['--reuid=259999', '--regid=259999', '--clear-groups', ...curl];
      await expect(runCommand('/usr/bin/setpriv', asStranger)).rejects.toMatchObject({ status: 7 });
    }
  });
});

describe('purging', () => {
  test('takes effect at once, for this install alone', async () => {
    const path = fresh();
    const variants = [BROWSER, GZIP, {}];
    const ours = await get(path, { headers: BROWSER });
    for (const headers of variants) await get(path, { headers });
    const theirs = await get(path, {}, 'blog.test');
    await edge.control.purge(shop.state.id);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => get(path, { headers: variants[n % 3] ?? {} })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(timesOf(answers).size).toBe(1);
    expect(timesOf(answers)).not.toContain(ours.time);
    expect(await get(path, {}, 'blog.test')).toMatchObject({ time: theirs.time, cache: 'HIT' });
  });

  test.each([
    ['all', () => edge.control.purge(shop.state.id)],
    ['one', (path: string) => edge.control.purgePages(shop.state.id, [path])],
  ])('what PHP was making meanwhile is for its visitor alone: %s', async (_, purge) => {
    const script = await edge.write(
      shop.state,
      'held.php',
      `<?php file_put_contents(__DIR__ . '/begun', 'x', FILE_APPEND); header('Content-Type: application/json');
while (!is_file(__DIR__ . '/go-on')) { usleep(1000); clearstatcache(); }
echo json_encode(['time' => hrtime(true)]);`,
    );
    const path = '/held.php';
    const begun = await edge.write(shop.state, 'begun', '');
    const making = get(path);
    await eventually(async () => (await stat(begun)).size === 1);
    const waiting = [get(path), get(path, { headers: GZIP })];
    await purge(path);
    // One of the others asks PHP again, although the first is not done.
    await eventually(async () => (await stat(begun)).size === 2);
    const goOn = await edge.write(shop.state, 'go-on', '');
    const { time } = await making;
    const others = await Promise.all(waiting);
    expect(timesOf(others).size).toBe(1);
    expect(timesOf(others)).not.toContain(time);
    expect(await get(path)).toMatchObject({ time: others[0]?.time, cache: 'HIT' });
    expect((await stat(begun)).size).toBe(2);
    for (const file of [goOn, script]) await rm(file);
    await edge.control.purge(shop.state.id);
  });

  test('of single pages, by path, under every name and with every query', async () => {
    const [path, other] = ['/caf%C3%A9/au-lait/', fresh()];
    const asked: [string, string][] = [
      [path, 'shop.test'],
      [`${path}?a=1`, 'shop.test'],
      [path.toLowerCase(), 'www.shop.test'],
    ];
    for (const [address, name] of asked) await get(address, {}, name);
    const { time } = await get(other);
    await get(path, {}, 'blog.test');
    await edge.control.purgePages(shop.state.id, ['/café/au-lait']);
    for (const [address, name] of asked) expect((await get(address, {}, name)).cache, address).toBe('MISS');
    expect(await get(other)).toMatchObject({ time, cache: 'HIT' });
    expect((await get(path, {}, 'blog.test')).cache).toBe('HIT');
  });

  test('of single pages, as on the embedded host', async () => {
    const times = () => Promise.all(PAGE_PURGE_CASES.map(async ([address]) => (await get(address)).time));
    const before = await times();
    expect(await times()).toEqual(before);
    await edge.control.purgePages(shop.state.id, PURGED_PATHS);
    const after = await times();
    expect(PAGE_PURGE_CASES.map(([address], index) => [address, after[index] !== before[index]])).toEqual(
      PAGE_PURGE_CASES,
    );
  });

  test('a list of pages that is none is refused', async () => {
    for (const body of ['', '{', '"x"', '[1]', '{"a":1}']) {
      await expect(edge.control.call('POST', `/purge-pages/${shop.state.id}`, body)).rejects.toThrow('400');
    }
  });

  test('under load no request fails', async () => {
    let stop = false;
    const statuses = new Set<number>();
    const visitors = Array.from({ length: 6 }, async (_, n) => {
      const headers = [BROWSER, GZIP, {}][n % 3] ?? {};
      while (!stop) statuses.add((await get(`/load/?${pages++ % 20}`, { headers })).status);
    });
    for (let purges = 0; purges < 10; purges++) {
      if (purges % 2 === 0) await edge.control.purge(shop.state.id);
      else await edge.control.purgePages(shop.state.id, ['/load/']);
      await sleep(30);
    }
    stop = true;
    await Promise.all(visitors);
    expect(statuses).toEqual(new Set([200]));
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

describe('what is large', () => {
  const MEGABYTE = 1_000_000;
  beforeAll(async () => {
    await edge.write(
      shop.state,
      'large.php',
      `<?php
$megabytes = (int) $_GET['megabytes'];
header('Content-Type: ' . $_GET['type']);
if (isset($_GET['told'])) header('Content-Length: ' . $megabytes * ${MEGABYTE});
for ($part = 0; $part < $megabytes; $part++) {
  echo str_repeat('x', ${MEGABYTE});
  flush();
}
`,
    );
  });

  test.each([
    ['type=text/html&megabytes=3', 'HIT'],
    ['type=text/html&megabytes=3&told', 'HIT'],
    ['type=application/zip&megabytes=3&told', 'HIT'],
    ['type=text/html&megabytes=12&told', 'BYPASS'],
    ['type=application/zip&megabytes=3', 'BYPASS'],
    ['type=text/event-stream&megabytes=3', 'BYPASS'],
  ])('%s: %s', async (query, cache) => {
    const path = `/large.php?${query}&page=${pages++}`;
    for (const headers of [{}, GZIP]) {
      const { text: content } = await edge.http('shop.test', path, { headers });
      expect(content).toHaveLength(Number(/megabytes=(\d+)/.exec(query)?.[1]) * MEGABYTE);
    }
    expect((await edge.http('shop.test', path, { method: 'HEAD' })).headers['x-cache']).toBe(cache);
  });

  /** Bytes of the cache, with what is being written. */
  async function kept(): Promise<number> {
    const sizes = ['-ignore_readdir_race', '-type', 'f', '-printf', '%s '];
    const { stdout } = await runCommand('/usr/bin/find', [join(edge.layout.caches, 'pages'), ...sizes]);
    return stdout.split(' ').reduce((sum, size) => sum + Number(size), 0);
  }

  test('headers that nginx accepts from PHP pass the inner servers', async () => {
    await edge.write(
      shop.state,
      'headers.php',
      `<?php for ($i = 100; $i < 200; $i++) header("X-$i: " . str_repeat('x', 317)); echo 'page';`,
    );
    const visit = { host: '127.0.0.1', port: edge.options.edgeHttp.port, path: '/headers.php' };
    for (const cache of ['MISS', 'HIT']) {
      const asked = request({ ...visit, headers: { Host: 'shop.test' }, maxHeaderSize: 65_536 }).end();
      const [answer]: IncomingMessage[] = await once(asked, 'response');
      expect(answer).toMatchObject({ statusCode: 200, headers: { 'x-cache': cache } });
      answer?.resume();
    }
  });

  // The plain one last: what it wrote counts for the address's share of the disk.
  test.each([
    ['compressed', GZIP],
    ['plain', {}],
  ])('a page that does not end is broken off, and nothing of it stays: %s', async (encoding, headers) => {
    const before = await kept();
    const path = `/large.php?type=text/html&megabytes=300&${encoding}`;
    const visitor = request({
      port: edge.options.edgeHttp.port,
      path,
      headers: { Host: 'shop.test', ...headers },
    }).end();
    const [page]: IncomingMessage[] = await once(visitor, 'response');
    if (!page) throw new Error('no response');
    page.resume();
    await expect(finished(page)).rejects.toThrow('aborted');
    await eventually(async () => (await kept()) < before + MEGABYTE);
  });

  test('an answer that is not kept waits for a slow visitor with PHP, and not on the disk', async () => {
    const visitor = connect({ host: '127.0.0.1', port: edge.options.edgeHttp.port });
    visitor.write(
      'GET /large.php?type=text/html&megabytes=100 HTTP/1.0\r\nHost: shop.test\r\nAuthorization: x\r\n\r\n',
    );
    await once(visitor, 'readable');
    await sleep(1_000);
    const written = await openBytesIn(join(edge.layout.nginx, 'temporary'));
    visitor.destroy();
    expect(written).toBeLessThan(20 * MEGABYTE);
  });

  /** Bytes of the files that nginx has open in a folder; it has removed their names. */
  async function openBytesIn(folder: string): Promise<number> {
    const [nginx] = (await edge.daemons.list()).filter(({ name }) => name === 'nginx');
    const { serving } = await workersOf(nginx?.pid ?? 0);
    let bytes = 0;
    for (const pid of serving) {
      for (const fd of await readdir(`/proc/${pid}/fd`)) {
        const file = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
        if (file.startsWith(folder)) bytes += (await stat(`/proc/${pid}/fd/${fd}`)).size;
      }
    }
    return bytes;
  }
});
