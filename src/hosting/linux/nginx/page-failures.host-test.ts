import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../policy/edge.fixture.ts';
import type { TestEdge } from './edge-table.fixture.ts';
import { BROWSER, GZIP, header, type PageCache, startPageCache } from './page-cache.fixture.ts';
import { siteState } from './test-installs.fixture.ts';
import type { Vhost } from './vhost.ts';
import { workersOf } from './worker-processes.ts';

let edge: TestEdge;
let shop: Vhost;
let blog: Vhost;
let get: PageCache['get'];
let fresh: PageCache['fresh'];
beforeAll(async () => {
  ({ edge, shop, blog, get, fresh } = await startPageCache());
});
afterAll(() => edge.close());

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

describe('a client that wants only what is cached', () => {
  const onlyCached = async (path: string) =>
    (
      await edge.http('shop.test', path, {
        method: 'HEAD',
        headers: { ...GZIP, 'Cache-Control': 'only-if-cached' },
      })
    ).status;

  test('gets no page that PHP would have to make', async () => {
    const path = fresh();
    expect(await onlyCached(path)).toBe(504);
    expect((await get(path, { headers: GZIP })).cache).toBe('MISS');
    expect(await onlyCached(path)).toBe(200);
    expect(await onlyCached('/wp-admin/')).toBe(504);
    expect(await onlyCached('/wp-login.php')).not.toBe(200);
  });

  test('sees the failure of a page that visitors saw', async () => {
    const path = fresh();
    const broken = await edge.write(shop.state, 'broken', '');
    expect(await onlyCached(path)).toBe(504);
    expect((await get(path, { headers: GZIP })).status).toBe(500);
    expect(await onlyCached(path)).toBe(500);
    await rm(broken);
    expect(await onlyCached(path)).toBe(200);
    await edge.control.purge(shop.state.id);
    expect(await onlyCached(path)).toBe(504);
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
