import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, field, text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { manualClock } from '../../../test/manual-clock.ts';
import { signedIn } from '../../../test/portal-client.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';
import { collectUsage, measureDaily } from './jobs.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const FILE_BYTES = 300_000;

const clock = manualClock(new Date('2026-05-10T12:00:00Z'));
let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let shop: { id: string; name: string };
let blog: { id: string; name: string };

beforeAll(async () => {
  homeport = await startTestHomeport({ clock });
  ({ accountId, owner } = await homeport.ownedAccount());
  const site = await owner.client.post('/sites', { name: 'Shop', account_id: accountId, tags: ['VIP'] });
  const place = { site_id: text(site.body, 'id'), environment: 'production' };
  shop = await homeport.install(owner, accountId, place);
  blog = await homeport.install(owner, accountId);
  write(shop.id, 'large.bin', randomBytes(FILE_BYTES));
});
afterAll(() => homeport?.remove());

function write(installId: string, path: string, content: Buffer): void {
  const file = join(homeport.config.dataDir, 'host', 'installs', installId, 'files', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** Asks for the file of an install, and returns the bytes received. */
async function visit({ name }: { name: string }, agent = BROWSER): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port: homeport.hosting?.edgeHttp.port ?? 0 });
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const head = `GET /large.bin HTTP/1.1\r\nHost: ${name}.localhost\r\nUser-Agent: ${agent}\r\nConnection: close\r\n\r\n`;
  socket.write(head);
  await once(socket, 'close');
  return bytes;
}

async function run(kind: typeof collectUsage | typeof measureDaily): Promise<void> {
  const { database, queue } = homeport.platform;
  await database.write((transaction) => queue.enqueue(transaction, kind, { payload: {}, lane: null }));
  await homeport.idle();
}

async function get(path: string, client: Client = owner.client): Promise<unknown> {
  const answer = await client.get(path);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body;
}

const usageOf = (install: { id: string }, query = '') => get(`/installs/${install.id}/usage${query}`);
const account = (rest = '', client: Client = owner.client) =>
  get(`/accounts/${accountId}/usage${rest}`, client);

describe('collected usage', () => {
  let shopBytes = 0;
  let blogBytes = 0;

  it('equals the traffic of an install to the byte', async () => {
    shopBytes = (await visit(shop)) + (await visit(shop)) + (await visit(shop, 'curl/8.14.1'));
    blogBytes = await visit(blog);
    expect(shopBytes).toBeGreaterThan(3 * FILE_BYTES);
    await run(collectUsage);
    expect(await usageOf(shop)).toMatchObject({
      install_name: shop.name,
      metrics: [
        {
          date: '2026-05-10',
          visit_count: '1',
          billable_visits: '1',
          request_origin_count: '3',
          network_origin_bytes: String(shopBytes),
          network_cdn_bytes: null,
          network_total_bytes: String(shopBytes),
          storage_file_bytes: null,
          storage_update_time: null,
          traffic_metrics_source: 'ONHOST',
        },
      ],
      metrics_rollup: {
        request_origin_count: { average: '3', sum: '3', latest: { date: '2026-05-10', value: '3' } },
        network_cdn_bytes: { average: null, sum: null, latest: { date: null, value: null } },
      },
      storage_refresh_expected_time: '2026-05-11T02:29:00.000Z',
    });
  });

  it('does not change if it is collected again', async () => {
    const before = await usageOf(shop);
    await run(collectUsage);
    await homeport.platform.database.write(({ queries }) => queries.deleteFrom('usage_cursors').execute());
    await run(collectUsage);
    expect(await usageOf(shop)).toEqual(before);
  });

  it('has the storage after the daily measurement', async () => {
    clock.advance(15 * HOUR_MS);
    await run(measureDaily);
    const usage = await usageOf(shop);
    const measured = Number(text(usage, 'metrics_rollup', 'storage_file_bytes', 'latest', 'value'));
    expect(measured).toBeGreaterThan(FILE_BYTES);
    expect(usage).toMatchObject({
      metrics: [
        { date: '2026-05-10', request_origin_count: '3' },
        {
          date: '2026-05-11',
          request_origin_count: '0',
          storage_file_bytes: String(measured),
          storage_database_bytes: null,
          storage_update_time: '2026-05-11T03:00:00.000Z',
        },
      ],
      metrics_rollup: {
        request_origin_count: { average: '2', sum: '3', latest: { date: '2026-05-11', value: '0' } },
        storage_file_bytes: { average: String(measured), sum: null },
      },
    });
  });

  it('is that of each install of the account, by name', async () => {
    expect(await account()).toMatchObject({
      environment_metrics: [shop, blog]
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name }) => ({
          environment_name: name,
          metrics: [
            { network_origin_bytes: String(name === shop.name ? shopBytes : blogBytes) },
            { date: '2026-05-11' },
          ],
        })),
      total_size: 2,
      next_page_token: null,
      all_environments_included: true,
      last_account_storage_refresh_time: '2026-05-11T03:00:00.000Z',
      account_storage_refresh_expected_time: '2026-05-12T02:29:00.000Z',
    });
  });

  it('comes in pages that lead to all installs', async () => {
    const first = await account('?limit=1');
    const token = text(first, 'next_page_token');
    const second = await account(`?limit=1&offset=${token}`);
    const names = [first, second].map((page) => text(page, 'environment_metrics', 0, 'environment_name'));
    expect(new Set(names)).toEqual(new Set([shop.name, blog.name]));
    expect(field(second, 'next_page_token')).toBeNull();
    expect(field(await account('?limit=0'), 'environment_metrics')).toEqual([]);
  });

  it('is that of the installs with a tag', async () => {
    expect(await account('?tags=vip')).toMatchObject({
      environment_metrics: [{ environment_name: shop.name }],
      total_size: 1,
    });
  });

  it('is summed over the account', async () => {
    const both = String(shopBytes + blogBytes);
    const storage = [await usageOf(shop), await usageOf(blog)].map((usage) =>
      Number(text(usage, 'metrics_rollup', 'storage_file_bytes', 'latest', 'value')),
    );
    const stored = String(storage.reduce((sum, bytes) => sum + bytes, 0));
    expect(await account('/summary')).toMatchObject({
      visit_count: { sum: '2', average: '2', latest: { date: '2026-05-10', value: '2' } },
      request_origin_count: { sum: '4' },
      network_total_bytes: { sum: both },
      network_cdn_bytes: { sum: null },
      storage_file_bytes: { sum: null, average: stored, latest: { date: '2026-05-11', value: stored } },
      storage_database_bytes: { latest: { date: null, value: null } },
    });
  });

  it('is divided by environments and types of sites', async () => {
    const both = String(shopBytes + blogBytes);
    expect(await account('/insights')).toMatchObject({
      network_origin_bytes: {
        total: both,
        environment_types: { production: String(shopBytes), staging: null, development: null },
        site_types: { standard: both, transferable: null, sandbox: null },
      },
      storage_database_bytes: { total: null },
    });
    const { database } = homeport.platform;
    for (const [property, type] of [
      ['sandbox', 'sandbox'],
      ['transferable', 'transferable'],
    ] as const) {
      await database.write(({ queries }) =>
        queries
          .updateTable('sites')
          .set({ sandbox: false, transferable: false, [property]: true })
          .where('account_id', '=', accountId)
          .execute(),
      );
      expect(await account('/insights')).toMatchObject({
        network_origin_bytes: { site_types: { standard: String(blogBytes), [type]: String(shopBytes) } },
      });
    }
  });

  it('is limited to the requested days', async () => {
    expect(field(await usageOf(shop, '?first_date=2026-05-11'), 'metrics')).toMatchObject([
      { date: '2026-05-11' },
    ]);
    expect(await account('/summary?first_date=2026-05-01&last_date=2026-05-09')).toMatchObject({
      visit_count: { sum: null, latest: { date: null, value: null } },
    });
  });

  it.each([
    'first_date=2026-02-30',
    'first_date=yesterday',
    'last_date=2026-05-10T00:00:00Z',
    'first_date=2026-05-11&last_date=2026-05-10',
    'first_date=2024-01-01&last_date=2026-05-10',
    'first_date=2026-05-10&first_date=2026-05-11',
  ])('is refused for the days %s', async (query) => {
    for (const path of [`/installs/${shop.id}/usage`, `/accounts/${accountId}/usage/summary`]) {
      expect((await owner.client.get(`${path}?${query}`)).status).toBe(400);
    }
  });

  it.each(['limit=-1', 'limit=x', 'offset=1.5'])('is refused for the page %s', async (query) => {
    expect((await owner.client.get(`/accounts/${accountId}/usage?${query}`)).status).toBe(400);
  });

  it('shows partial users the figures of their installs alone', async () => {
    const partial = await homeport.person(accountId, 'partial', [blog.id]);
    const bytes = String(blogBytes);
    expect(await account('', partial.client)).toMatchObject({
      environment_metrics: [{ environment_name: blog.name }],
      total_size: 1,
      all_environments_included: false,
    });
    expect(await account('/summary', partial.client)).toMatchObject({ network_total_bytes: { sum: bytes } });
    expect(await account('/insights', partial.client)).toMatchObject({
      network_total_bytes: { total: bytes },
    });
    expect((await partial.client.get(`/installs/${shop.id}/usage`)).status).toBe(404);
    const without = await homeport.person(accountId, 'partial');
    expect(await account('/summary', without.client)).toMatchObject({ network_total_bytes: { sum: null } });
  });

  it('is shown by day in the portal, to partial users of their installs alone', async () => {
    const days = async (person: Person) =>
      (await (await signedIn(homeport, person)).get(`/accounts/${accountId}/usage/days`)).body;
    const both = { date: '2026-05-10', visit_count: '2', network_total_bytes: String(shopBytes + blogBytes) };
    expect(await days(owner)).toEqual({ results: [both] });
    const partial = await homeport.person(accountId, 'partial', [blog.id]);
    const one = { ...both, visit_count: '1', network_total_bytes: String(blogBytes) };
    expect(await days(partial)).toEqual({ results: [one] });
  });

  it('of a deleted install stays with its account', async () => {
    const short = await homeport.install(owner, accountId);
    const bytes = await visit(short);
    await run(collectUsage);
    const before = await account('/summary');
    expect((await owner.client.delete(`/installs/${short.id}`)).status).toBe(204);
    await homeport.idle();
    await run(collectUsage);
    expect(await account('/summary')).toEqual(before);
    expect(field(await account(), 'environment_metrics')).toContainEqual(
      expect.objectContaining({
        environment_name: short.name,
        metrics: [expect.objectContaining({ network_origin_bytes: String(bytes) })],
      }),
    );
    const partial = await homeport.person(accountId, 'partial', [blog.id]);
    expect(field(await account('', partial.client), 'total_size')).toBe(1);
  });
});

describe('a refresh of the storage', () => {
  const refresh = (path: string, client: Client = owner.client) =>
    client.post(`${path}/usage/refresh_disk_usage`, undefined);
  const stored = async (install: { id: string }) =>
    Number(text(await usageOf(install), 'metrics_rollup', 'storage_file_bytes', 'latest', 'value'));

  it('measures an install, at most every 300 seconds', async () => {
    const before = await stored(shop);
    write(shop.id, 'more.bin', randomBytes(50_000));
    const answer = await refresh(`/installs/${shop.id}`);
    expect([answer.status, answer.body]).toEqual([200, undefined]);
    expect(await refresh(`/installs/${shop.id}`)).toMatchObject({
      status: 429,
      headers: { 'retry-after': '300' },
    });
    await homeport.idle();
    expect(await stored(shop)).toBeGreaterThanOrEqual(before + 50_000);
    clock.advance(5 * MINUTE_MS);
    expect((await refresh(`/installs/${shop.id}`)).status).toBe(200);
    await homeport.idle();
  });

  it('measures the installs of an account, four times an hour for each user', async () => {
    write(blog.id, 'more.bin', randomBytes(60_000));
    expect((await refresh(`/accounts/${accountId}`)).status).toBe(200);
    await homeport.idle();
    expect(await stored(blog)).toBeGreaterThan(60_000);
    for (let more = 0; more < 3; more++) {
      expect((await refresh(`/accounts/${accountId}`)).status).toBe(200);
    }
    expect((await refresh(`/accounts/${accountId}`)).status).toBe(429);
    await homeport.idle();
  });

  it('measures only the installs that a partial user sees', async () => {
    const partial = await homeport.person(accountId, 'partial', [blog.id]);
    const [shopBefore, blogBefore] = [await stored(shop), await stored(blog)];
    for (const { id } of [shop, blog]) write(id, 'partial.bin', randomBytes(70_000));
    expect((await refresh(`/accounts/${accountId}`, partial.client)).status).toBe(200);
    await homeport.idle();
    expect(await stored(blog)).toBeGreaterThan(blogBefore);
    expect(await stored(shop)).toBe(shopBefore);
    expect((await refresh(`/installs/${shop.id}`, partial.client)).status).toBe(404);
  });
});

describe('the limits of an account', () => {
  it('are null until the operator sets them', async () => {
    expect(await get(`/accounts/${accountId}/limits`)).toEqual({
      visitors: null,
      storage: null,
      bandwidth: null,
    });
    await homeport.services.usage.setLimits(accountId, { visitors: 1000, storage: 5_000_000_000 });
    await homeport.services.usage.setLimits(accountId, { visitors: null, bandwidth: 7 });
    expect(await get(`/accounts/${accountId}/limits`)).toEqual({
      visitors: null,
      storage: 5_000_000_000,
      bandwidth: 7,
    });
  });
});

it('usage is deleted after 400 days', async () => {
  clock.advance(401 * DAY_MS);
  const { database } = homeport.platform;
  const { createTidyJob } = await import('../../app/retention.ts');
  const tidy = createTidyJob({ database, clock });
  const completion = await tidy.run({}, { signal: AbortSignal.timeout(10_000) } as never);
  await database.write(async (transaction) => completion?.(transaction));
  expect(await database.reader.selectFrom('usage_traffic').selectAll().execute()).toEqual([]);
  expect(await database.reader.selectFrom('usage_storage').selectAll().execute()).toEqual([]);
  const left = await database.reader.selectFrom('usage_installs').select('name').execute();
  expect(left.map(({ name }) => name).sort()).toEqual([shop.name, blog.name].sort());
});
