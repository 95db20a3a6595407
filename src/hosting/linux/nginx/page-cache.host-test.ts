import { once } from 'node:events';
import { mkdir, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Asked, eventually } from '../../policy/edge.fixture.ts';
import { runCommand } from '../machine/run-command.ts';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';
import { workersOf } from './worker-processes.ts';

const shop = siteState('shop', ['shop.test', 'www.shop.test']);
const blog = siteState('blog', ['blog.test']);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await server.web.start([await server.makeInstall(shop), await server.makeInstall(blog)]);
});
afterAll(() => server.close());

interface Page {
  status: number;
  cache: string | undefined;
  /** When PHP made it. */
  time: number;
  method: string;
}

async function get(path: string, asked: Asked = {}, hostname = 'shop.test'): Promise<Page> {
  const { status, headers, text } = await server.http(hostname, path, asked);
  const cache = headers['x-cache'];
  const told = text === '' ? {} : JSON.parse(text);
  return {
    status,
    cache: cache === undefined ? cache : String(cache),
    time: told.time,
    method: told.REQUEST_METHOD,
  };
}

let pages = 0;
/** A path that no test has asked for before. */
function fresh(query = ''): string {
  return `/page-${++pages}/?${query}`;
}

/** How the second request for it is answered. */
async function second(path: string, asked: Asked = {}): Promise<string | undefined> {
  await get(path, asked);
  return (await get(path, asked)).cache;
}

describe('what is kept', () => {
  test('a page, for all visitors, by scheme, name, port and query', async () => {
    const path = fresh();
    const first = await get(path);
    expect(first.cache).toBe('MISS');
    expect(await get(path)).toEqual({ ...first, cache: 'HIT' });
    expect(await get(path, { headers: { Cookie: 'theme=dark', 'User-Agent': 'other' } })).toEqual({
      ...first,
      cache: 'HIT',
    });
    for (const [other, name] of [
      [`${path}&x`, 'shop.test'],
      [path, 'www.shop.test'],
      [path, 'shop.test:1234'],
      [path, 'blog.test'],
    ] as const) {
      expect((await get(other, {}, name)).cache).toBe('MISS');
    }
    expect((await server.https('shop.test', path)).headers['x-cache']).toBe('MISS');
  });

  test('HEAD takes from it and never puts an empty page in', async () => {
    const path = fresh();
    expect((await server.http('shop.test', path, { method: 'HEAD' })).headers['x-cache']).toBe('MISS');
    const page = await get(path);
    expect(page).toMatchObject({ cache: 'HIT', method: 'GET', time: expect.any(Number) });
  });

  test('a part of it is not sent, since the whole may be another by the next part', async () => {
    const path = fresh();
    for (const cache of ['MISS', 'HIT']) {
      const page = await server.http('shop.test', path, { headers: { Range: 'bytes=0-3' } });
      expect(page).toMatchObject({ status: 200, headers: { 'x-cache': cache } });
      expect(JSON.parse(page.text)).toMatchObject({ REQUEST_METHOD: 'GET' });
    }
  });

  test('many who miss the same page cause one making', async () => {
    const path = fresh('wait=150');
    const made = await Promise.all(Array.from({ length: 12 }, () => get(path)));
    expect(new Set(made.map(({ time }) => time)).size).toBe(1);
  });

  test('permanent redirects are, temporary ones and errors are not', async () => {
    expect(await second(fresh('status=301&header[]=Location:%20/x'))).toBe('HIT');
    for (const status of [302, 307, 403, 404, 500]) {
      expect(await second(fresh(`status=${status}`))).not.toBe('HIT');
    }
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
  ])('for visitors with the cookie %s', async (cookie) => {
    const path = fresh();
    const kept = await get(path);
    const asked = { headers: { Cookie: `theme=dark; ${cookie}` } };
    const own = await get(path, asked);
    expect(own.cache).toBe('BYPASS');
    expect(own.time).not.toBe(kept.time);
    expect((await get(path)).time).toBe(kept.time);
  });

  test.each([
    '/wp-admin/',
    '/wp-admin/admin-ajax.php?x',
    '/wp-login.php',
    '/wp-json/wp/v2/posts',
    '/?rest_route=/wp/v2/posts',
    '/cart/',
    '/checkout',
    '/shop/my-account/orders/',
  ])('%s', async (path) => {
    await server.write(shop, 'wp-login.php', '<?php echo json_encode(["time" => hrtime(true)]);');
    await server.write(shop, 'wp-admin/admin-ajax.php', '<?php echo json_encode(["time" => hrtime(true)]);');
    await server.write(shop, 'wp-admin/index.php', '<?php echo json_encode(["time" => hrtime(true)]);');
    expect(await second(path)).toBe('BYPASS');
  });

  test('with credentials, and by other methods', async () => {
    expect(await second(fresh(), { headers: { Authorization: 'Basic eDp5' } })).toBe('BYPASS');
    expect(await second(fresh(), { method: 'POST', body: 'a=b' })).toBe('BYPASS');
  });

  test.each([
    'cookie=1',
    'header[]=Cache-Control:%20no-store',
    'header[]=Cache-Control:%20private',
    'header[]=Cache-Control:%20no-cache,%20must-revalidate,%20max-age=0',
    'header[]=Expires:%20Wed,%2011%20Jan%201984%2005:00:00%20GMT',
    'header[]=Vary:%20*',
  ])('where PHP says so: %s', async (query) => {
    expect(await second(fresh(query))).toBe('MISS');
  });

  test('as long as PHP says, and shown while it is made anew', async () => {
    const path = fresh('header[]=Cache-Control:%20max-age=1&held');
    const goOn = await server.write(shop, 'go-on', '');
    const first = await get(path);
    await rm(goOn);
    await sleep(2_100);
    // PHP does not answer before it may go on.
    expect(await get(path)).toEqual({ ...first, cache: 'STALE' });
    await server.write(shop, 'go-on', '');
    await eventually(async () => (await get(path)).time !== first.time);
    await rm(goOn);
  });

  test('a page is shown while PHP fails, or is down', async () => {
    const path = fresh('header[]=Cache-Control:%20max-age=1');
    const first = await get(path);
    await sleep(2_100);
    const broken = await server.write(shop, 'broken', '');
    for (let tries = 0; tries < 3; tries++) {
      expect(await get(path)).toMatchObject({ status: 200, time: first.time, cache: 'STALE' });
    }
    expect((await server.http('shop.test', fresh())).status).toBe(500);
    await rm(broken);
  });
});

describe('what is large', () => {
  const MEGABYTE = 1_000_000;
  beforeAll(async () => {
    await server.write(
      shop,
      'large.php',
      `<?php
$megabytes = (int) $_GET['megabytes'];
header('Content-Type: ' . $_GET['type']);
if (isset($_GET['told'])) header('Content-Length: ' . $megabytes * ${MEGABYTE});
for ($part = 0; $part < $megabytes; $part++) {
  echo str_repeat('x', ${MEGABYTE});
  flush();
  while ($part === 10 && isset($_GET['held']) && !is_file(__DIR__ . '/go-on')) { usleep(1000); clearstatcache(); }
}
`,
    );
  });

  /** Bytes of what is kept, and of what is being written. */
  async function kept(): Promise<number> {
    const folder = server.layout.cacheOf(shop.id);
    const sizes = ['-ignore_readdir_race', '-type', 'f', '-printf', '%s '];
    const { stdout } = await runCommand('/usr/bin/find', [folder, ...sizes]);
    return stdout.split(' ').reduce((sum, size) => sum + Number(size), 0);
  }

  /** Asks for a page; how much of it came, and what asks again how it is answered. */
  async function large(query: string): Promise<{ bytes: number; cacheOfNext(): Promise<string> }> {
    const path = `/large.php?${query}&page=${pages++}`;
    const { text } = await server.http('shop.test', path);
    const cacheOfNext = async () =>
      String((await server.http('shop.test', path, { method: 'HEAD' })).headers['x-cache']);
    return { bytes: text.length, cacheOfNext };
  }

  test.each([
    ['type=text/html&megabytes=3', 'HIT'],
    ['type=text/html&megabytes=3&told', 'HIT'],
    ['type=application/zip&megabytes=3&told', 'HIT'],
    ['type=application/rss%2Bxml&megabytes=3', 'HIT'],
    ['type=text/html&megabytes=12&told', 'MISS'],
    ['type=application/zip&megabytes=3', 'MISS'],
    ['type=text/event-stream&megabytes=3', 'MISS'],
  ])('%s: %s', async (query, cache) => {
    const { bytes, cacheOfNext } = await large(query);
    expect(bytes).toBe(Number(/megabytes=(\d+)/.exec(query)?.[1]) * MEGABYTE);
    // A page is kept once PHP has ended, which may be after its last byte has come.
    if (cache === 'HIT') await eventually(async () => (await cacheOfNext()) === cache);
    else expect(await cacheOfNext()).toBe(cache);
    await server.web.purge(shop.id);
  });

  test('a page that does not end is broken off, and nothing of it stays', async () => {
    const visitor = request({
      port: server.options.edgeHttp.port,
      path: '/large.php?type=text/html&megabytes=300&held',
      headers: { Host: 'shop.test' },
    }).end();
    const [page]: IncomingMessage[] = await once(visitor, 'response');
    if (!page) throw new Error('no response');
    let received = 0;
    page.on('data', (part: Buffer) => {
      received += part.length;
    });
    const brokenOff = once(page, 'error');
    await eventually(async () => (await kept()) > MEGABYTE);
    const goOn = await server.write(shop, 'go-on', '');
    expect(await brokenOff).toEqual([expect.objectContaining({ message: 'aborted' })]);
    expect(received).toBeLessThan(90 * MEGABYTE);
    await eventually(async () => (await kept()) < MEGABYTE);
    await rm(goOn);
    expect((await get(fresh())).cache).toBe('MISS');
  });

  test('one that is not kept waits for a slow visitor with PHP, and not on the disk', async () => {
    const visitor = connect({ host: '127.0.0.1', port: server.options.edgeHttp.port });
    visitor.write(
      'GET /large.php?type=text/html&megabytes=100 HTTP/1.0\r\nHost: shop.test\r\nAuthorization: x\r\n\r\n',
    );
    await once(visitor, 'readable');
    const temporary = join(server.layout.nginx, 'temporary');
    await sleep(1_000);
    const written = await filesOf(temporary);
    visitor.destroy();
    expect(written).toBeLessThan(20 * MEGABYTE);
  });

  /** Bytes of the files that nginx has open in a folder; it has removed their names. */
  async function filesOf(folder: string): Promise<number> {
    const [nginx] = (await server.daemons.list()).filter(({ name }) => name === 'nginx');
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

describe('purging', () => {
  test('takes effect at once, for this install alone', async () => {
    const path = fresh();
    const [ours, www, theirs] = [
      await get(path),
      await get(path, {}, 'www.shop.test'),
      await get(path, {}, 'blog.test'),
    ];
    await server.web.purge(shop.id);
    expect(await get(path)).toMatchObject({
      cache: 'MISS',
      time: expect.not.toSatisfy((time) => time === ours.time),
    });
    expect((await get(path, {}, 'www.shop.test')).time).not.toBe(www.time);
    expect(await get(path, {}, 'blog.test')).toEqual({ ...theirs, cache: 'HIT' });
    expect((await get(path)).cache).toBe('HIT');
  });

  test('what was being made meanwhile is not kept for long', async () => {
    const path = fresh('wait=3000');
    const making = get(path);
    await sleep(1_500);
    await server.web.purge(shop.id);
    const made = await making;
    await eventually(async () => (await get(path)).time !== made.time);
  });

  test('under load no request fails', async () => {
    let stop = false;
    const statuses = new Set<number>();
    const visitors = Array.from({ length: 4 }, async () => {
      while (!stop) statuses.add((await get(`/load/?${pages++ % 20}`)).status);
    });
    for (let purges = 0; purges < 10; purges++) {
      await server.web.purge(shop.id);
      await sleep(30);
    }
    stop = true;
    await Promise.all(visitors);
    expect(statuses).toEqual(new Set([200]));
  });

  test('deletes nothing that the web server’s user could not, wherever a name leads meanwhile', async () => {
    await get(fresh());
    const folder = join(server.layout.cacheOf(blog.id), 'roots');
    await get(fresh(), {}, 'blog.test');
    await mkdir(folder);
    await writeFile(join(folder, 'file'), '');
    await expect(server.web.purge(blog.id)).rejects.toThrow('Permission denied');
    expect(await readdir(folder)).toEqual(['file']);
    await rm(folder, { recursive: true });
    await expect(server.web.purge(blog.id)).resolves.toBeUndefined();
  });

  test('an install that was never asked for', async () => {
    const quiet = siteState('quiet', ['quiet.test']);
    await expect(server.web.purge(quiet.id)).resolves.toBeUndefined();
  });
});
