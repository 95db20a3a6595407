import { afterAll, beforeAll, expect, it } from 'vitest';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { onlyOn } from '../../../test/only-on.ts';
import { operatorFor } from '../../access/caller.ts';
import type { InstallDay } from '../../hosting/contract/usage.ts';
import { timestamp } from '../../lib/clock.ts';
import { ClientLeft } from '../../lib/failures.ts';
import { findCursor, storePage } from './collect-store.ts';

const DAY = '2026-03-01';
const LEDGERS = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;

let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let hosts: string[];

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  ({ owner, accountId } = await homeport.ownedAccount());
  const { database, clock, random } = homeport.platform;
  hosts = [random.uuid(), random.uuid()];
  await database.write(({ queries }) =>
    queries
      .insertInto('hosts')
      .values(
        hosts.map((id, index) => ({
          id,
          name: `host${index}`,
          address: `unix:/run/host${index}`,
          edge_addresses: '[]',
          description: null,
          seen_at: null,
          reason: null,
          created_at: timestamp(clock),
        })),
      )
      .execute(),
  );
});
afterAll(() => homeport?.remove());

/** A new install on one of the hosts. */
async function installOn(host: string): Promise<string> {
  const { id } = await homeport.services.installs.create(
    {
      userId: owner.userId,
      limits: null,
      origin: { means: 'api', credentialId: null, address: null, requestId: null },
    },
    { name: installName(), account_id: accountId },
  );
  await homeport.platform.database.write(({ queries }) =>
    queries.updateTable('installs').set({ host_id: host }).where('id', '=', id).execute(),
  );
  return id;
}

const dayOf = (installId: string, requests: number): InstallDay => ({
  installId,
  day: DAY,
  requests,
  bytes: requests * 100,
  visits: 1,
});

/** Stores a page of a host's ledger; returns the number of days that were left out. */
async function store(host: string, days: InstallDay[], { ledger = LEDGERS[0] as string, revision = 1 } = {}) {
  const { database, clock } = homeport.platform;
  return database.write(({ queries }) =>
    storePage(queries, host, { ledger, revision, days, more: false }, timestamp(clock)),
  );
}

async function requestsOf(installId: string): Promise<number> {
  const rows = await homeport.platform.database.reader
    .selectFrom('usage_traffic')
    .select('requests')
    .where('install_id', '=', installId)
    .execute();
  return rows.reduce((sum, { requests }) => sum + requests, 0);
}

it('totals replace earlier ones of the same ledger, and late pages change nothing', async () => {
  const [host = ''] = hosts;
  const install = await installOn(host);
  for (const requests of [3, 5, 5, 4]) await store(host, [dayOf(install, requests)]);
  expect(await requestsOf(install)).toBe(5);
});

it('totals of two ledgers add up', async () => {
  const [host = ''] = hosts;
  const install = await installOn(host);
  await store(host, [dayOf(install, 3)]);
  await store(host, [dayOf(install, 4)], { ledger: LEDGERS[1], revision: 9 });
  expect(await requestsOf(install)).toBe(7);
  expect(await findCursor(homeport.platform.database.reader, host)).toEqual({
    ledger: LEDGERS[1],
    revision: 9,
  });
});

it('a day that moves to another account with its install is counted there alone', async () => {
  const { database } = homeport.platform;
  const [host = ''] = hosts;
  const install = await installOn(host);
  const owners = [(await homeport.ownedAccount()).accountId, (await homeport.ownedAccount()).accountId];
  for (const [index, account_id] of owners.entries()) {
    await database.write(({ queries }) =>
      queries.updateTable('installs').set({ account_id }).where('id', '=', install).execute(),
    );
    await store(host, [dayOf(install, 3 + index)]);
  }
  const days = await database.reader
    .selectFrom('usage_account_days')
    .select(['account_id', 'day', 'requests', 'bytes', 'visits', 'installs'])
    .where('account_id', 'in', owners)
    .execute();
  expect(days).toEqual([
    { account_id: owners[1], day: DAY, requests: 4, bytes: 400, visits: 1, installs: 1 },
  ]);
});

// On PostgreSQL, the smaller sum may wait for a new connection for longer than the larger one takes.
onlyOn('sqlite', it)('the sums of an account do not wait for those of a larger one', async () => {
  const { usage } = homeport.services;
  const { database, random } = homeport.platform;
  const caller = operatorFor(owner.userId);
  const large = await homeport.ownedAccount();
  const install = {
    ...({ account_id: large.accountId, site_id: null, environment: null, status: 'pending' } as const),
    ...{ php_version: null, stable_ips: null, offload_file_name: 'a', offload_file_content: 'b' },
    created_at: timestamp(homeport.platform.clock),
  };
  const rows = Array.from({ length: 1_000 }, () => ({ ...install, id: random.uuid(), name: installName() }));
  await database.write(({ queries }) => queries.insertInto('installs').values(rows).execute());
  const answered: string[] = [];
  const stays = new AbortController().signal;
  await Promise.all([
    usage
      .summary(operatorFor(large.owner.userId), large.accountId, {}, stays)
      .then(() => answered.push('large')),
    usage.summary(caller, accountId, {}, stays).then(() => answered.push('small')),
  ]);
  expect(answered).toEqual(['small', 'large']);
  const gone = AbortSignal.abort();
  await expect(usage.summary(caller, accountId, {}, gone)).rejects.toThrow(ClientLeft);
  await expect(usage.insights(caller, accountId, {}, gone)).rejects.toThrow(ClientLeft);
});

it('a host reports nothing about installs of another host, nor about unknown ones', async () => {
  const [host = '', other = ''] = hosts;
  const install = await installOn(host);
  expect(await store(other, [dayOf(install, 1_000), dayOf(crypto.randomUUID(), 1)])).toBe(2);
  expect(await requestsOf(install)).toBe(0);
  expect(await store(host, [dayOf(install, 2)])).toBe(0);
  expect(await store(other, [dayOf(install, 1_000)])).toBe(1);
  expect(await requestsOf(install)).toBe(2);
});

it('pages are shown by day, as null without a measurement', async () => {
  const [host = ''] = hosts;
  const install = await installOn(host);
  const pages = { requests: 4, hits: 3, milliseconds: 250 };
  await store(host, [dayOf(install, 9), { ...dayOf(install, 9), day: '2026-03-02', pages }]);
  await store(host, [{ ...dayOf(install, 10), day: '2026-03-02', pages: { ...pages, requests: 5 } }]);
  const range = 'first_date=2026-03-01&last_date=2026-03-02';
  const { body } = await owner.client.get(`/installs/${install}/usage?${range}`);
  expect(body).toMatchObject({
    metrics: [
      { page_request_count: null, page_cache_hit_count: null, page_response_ms: null },
      { page_request_count: '5', page_cache_hit_count: '3', page_response_ms: '250' },
    ],
  });
});
