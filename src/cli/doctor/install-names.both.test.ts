import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/database.ts';
import { onlyOn } from '../../../test/only-on.ts';
import { readConfig } from '../../config/config.ts';
import {
  type Behaviour,
  type FakeDnsServer,
  NXDOMAIN,
  reply,
  startFakeDnsServer,
} from '../../network/dns/fake-dns-server.fixture.ts';
import { checkInstallNames } from './install-names.ts';

const NOW = '2026-05-01T00:00:00.000Z';
const CHECK = 'install names';
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let accountId: string;
let server: FakeDnsServer | undefined;
beforeAll(async () => {
  database = await openTestDatabase();
  accountId = crypto.randomUUID();
  await database.write(({ queries }) =>
    queries.insertInto('accounts').values({ id: accountId, name: 'Agency', created_at: NOW }).execute(),
  );
});
afterEach(async () => {
  await server?.close();
  await database.write(async ({ queries }) => {
    await queries.deleteFrom('installs').execute();
    await queries.deleteFrom('hosts').execute();
  });
});
afterAll(() => database.remove());

async function host(name: string, edgeAddresses: string[], address = `https://${name}.example:1`) {
  const id = crypto.randomUUID();
  await database.write(({ queries }) =>
    queries
      .insertInto('hosts')
      .values({
        id,
        name,
        address,
        public_name: null,
        edge_addresses: JSON.stringify(edgeAddresses),
        description: null,
        seen_at: null,
        reason: null,
        created_at: NOW,
      })
      .execute(),
  );
  return id;
}

async function install(host_id: string | null, ...names: string[]): Promise<void> {
  await database.write(async ({ queries }) => {
    for (const name of names) {
      await queries
        .insertInto('installs')
        .values({
          id: crypto.randomUUID(),
          account_id: accountId,
          site_id: null,
          environment: null,
          name,
          status: name.startsWith('failed') ? 'failed' : 'active',
          php_version: null,
          host_id,
          stable_ips: null,
          offload_file_name: 'f',
          offload_file_content: 'c',
          created_at: NOW,
        })
        .execute();
    }
  });
}

/** The doctor's findings for these DNS answers. */
async function found(
  behaviour: Behaviour,
  environment: Record<string, string> = {},
  limits = { most: 100, patienceMs: 60_000 },
) {
  server = await startFakeDnsServer(behaviour);
  return checkInstallNames(
    database,
    readConfig({
      HOMEPORT_HOST: 'linux',
      HOMEPORT_SITE_DOMAIN: 'sites.example',
      HOMEPORT_RESOLVERS: `127.0.0.1:${server.port}`,
      ...environment,
    }),
    limits,
  );
}

/** The addresses of each name; NXDOMAIN for others. */
const zone =
  (addresses: Record<string, string[]>): Behaviour =>
  (query) => {
    const own = addresses[query.name.replace('.sites.example', '')];
    if (own === undefined) return [reply(query, [], NXDOMAIN)];
    const type = query.type === 'AAAA' ? 'AAAA' : 'A';
    const family = own.filter((address) => address.includes(':') === (type === 'AAAA'));
    return [
      reply(
        query,
        family.map((data) => ({ type, name: query.name, ttl: 60, data })),
      ),
    ];
  };

test('every name leads to its own host, however its addresses are written', async () => {
  await install(await host('web1', ['203.0.113.1']), 'one');
  await install(await host('web2', ['203.0.113.2', '2001:db8::2']), 'two', 'failed');
  await install(null, 'waiting');
  const seen = await found(zone({ one: ['203.0.113.1'], two: ['203.0.113.2', '2001:db8:0:0::2'] }));
  expect(seen).toEqual([
    {
      check: CHECK,
      state: 'ok',
      message: 'All of 2 names of installs lead to the host that serves them.',
      remedy: null,
    },
  ]);
  expect(server?.queries.map(({ name }) => name)).not.toContain('failed.sites.example');
});

test('reports names that lead to another host, nowhere or to an unknown address, the gravest first', async () => {
  const web1 = await host('web1', ['203.0.113.1']);
  await install(web1, 'fine', 'far');
  await install(await host('web2', ['203.0.113.2']), 'a', 'b', 'c', 'd', 'gone');
  const wildcard = { a: ['203.0.113.1'], b: ['203.0.113.1'], c: ['203.0.113.1'] };
  const mixed = { d: ['203.0.113.2', '203.0.113.1'], fine: ['203.0.113.1'], far: ['198.51.100.9'] };
  expect(await found(zone({ ...wildcard, ...mixed }))).toEqual([
    {
      check: CHECK,
      state: 'problem',
      message:
        '4 of 7 names of installs lead to a host that does not serve it: ' +
        'd.sites.example (to 203.0.113.2, 203.0.113.1, is on web2), c.sites.example (to 203.0.113.1, is on web2), ' +
        'b.sites.example (to 203.0.113.1, is on web2) and 1 more.',
      remedy: expect.stringContaining('records of "homeport host records" in the DNS of sites.example.'),
    },
    {
      check: CHECK,
      state: 'problem',
      message: '1 of 7 names of installs has no address in the DNS: gone.sites.example.',
      remedy: expect.stringContaining('*.sites.example'),
    },
    {
      check: CHECK,
      state: 'warning',
      message: '1 of 7 names of installs leads to an unknown address: far.sites.example (to 198.51.100.9).',
      remedy: expect.stringContaining('HOMEPORT_EDGE_ADDRESSES'),
    },
  ]);
});

test('several hosts that share the addresses of the settings', async () => {
  await install(await host('web1', ['203.0.113.1']), 'one');
  await install(await host('web2', []), 'two');
  const environment = { HOMEPORT_EDGE_ADDRESSES: '203.0.113.2' };
  expect(await found(zone({ one: ['203.0.113.1'], two: ['203.0.113.2'] }), environment)).toMatchObject([
    {
      state: 'warning',
      message: expect.stringMatching(/^There are 2 hosts, and web2 has no edge addresses, /),
      remedy: expect.stringContaining('homeport host change web2 --edge-address <ip>'),
    },
    { state: 'ok' },
  ]);
});

test('reports addresses that cannot be checked, because the host is elsewhere', async () => {
  await install(await host('web2', []), 'two');
  expect(await found(zone({ two: ['203.0.113.2'] }))).toMatchObject([
    {
      state: 'warning',
      message: expect.stringContaining('two.sites.example (to 203.0.113.2)'),
      remedy: expect.stringContaining('homeport host change'),
    },
  ]);
});

/** More than are looked up. */
const MANY = ['shop0', 'shop1', 'shop2', 'shop3', 'shop4'];

test('limits the number of lookups', async () => {
  const web1 = await host('web1', ['203.0.113.1']);
  await install(web1, ...MANY);
  const all = Object.fromEntries(MANY.map((name) => [name, ['203.0.113.1']]));
  expect(await found(zone(all), {}, { most: 3, patienceMs: 60_000 })).toMatchObject([
    {
      state: 'ok',
      message: 'All of the 3 newest of 5 names of installs lead to the host that serves them.',
    },
  ]);
  const asked = new Set(server?.queries.map(({ name }) => name));
  expect([...asked].sort()).toEqual(['shop2.sites.example', 'shop3.sites.example', 'shop4.sites.example']);
});

// The wait for a silent DNS is the same on both databases.
onlyOn('sqlite', test)('limits the time for a silent DNS', async () => {
  const web1 = await host('web1', ['203.0.113.1']);
  await install(web1, ...MANY);
  expect(await found(() => [], {}, { most: 4, patienceMs: 50 })).toMatchObject([
    {
      state: 'warning',
      message: expect.stringMatching(
        /^4 of the 4 newest of 5 names of installs could not be looked up within 0.05 s: shop4.*and 1 more\.$/,
      ),
    },
  ]);
});

test('names of this machine alone, and none at all, are nothing to look up', async () => {
  const asNothing = () => [];
  expect(await found(asNothing)).toMatchObject([{ state: 'ok', message: 'There are none yet.' }]);
  await server?.close();
  await install(null, 'trial');
  const trial = { HOMEPORT_HOST: 'embedded', HOMEPORT_SITE_DOMAIN: 'localhost' };
  expect(await found(asNothing, trial)).toMatchObject([{ state: 'ok' }]);
  expect(server?.queries).toEqual([]);
});

test('a platform that hosts in its own process is looked up as any', async () => {
  await install(null, 'shop');
  const environment = { HOMEPORT_HOST: 'embedded', HOMEPORT_EDGE_ADDRESSES: '203.0.113.5' };
  expect(await found(zone({ shop: ['203.0.113.5'] }), environment)).toMatchObject([{ state: 'ok' }]);
  await server?.close();
  expect(await found(zone({}), environment)).toMatchObject([
    { state: 'problem', message: '1 of 1 names of installs has no address in the DNS: shop.sites.example.' },
  ]);
});
