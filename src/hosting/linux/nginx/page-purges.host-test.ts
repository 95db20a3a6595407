import { rm, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../policy/edge.fixture.ts';
import { PAGE_PURGE_CASES, PURGED_PATHS } from '../../policy/page-path.fixture.ts';
import type { TestEdge } from './edge-table.fixture.ts';
import { BROWSER, GZIP, type PageCache, startPageCache, timesOf } from './page-cache.fixture.ts';
import type { Vhost } from './vhost.ts';

let edge: TestEdge;
let shop: Vhost;
let get: PageCache['get'];
let fresh: PageCache['fresh'];
beforeAll(async () => {
  ({ edge, shop, get, fresh } = await startPageCache());
});
afterAll(() => edge.close());

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
    let [stop, pages] = [false, 0];
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
