import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { ROWS_AT, storedRows } from '../../../test/stored-rows.ts';
import { parseIdentity } from '../../hosting/remote/identity.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { hostAuthority } from './authority.ts';
import { clusterOf } from './cluster.ts';
import { placeAccount } from './placement-service.ts';
import {
  accountsOnHosts,
  findPlacement,
  labelsOfAccount,
  type MovableSelection,
  movableInstalls,
} from './placement-store.ts';
import { removeInstall } from './removal-job.ts';
import { hostServing } from './store.ts';

let homeport: TestHomeport;
let clock: ManualClock;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
});
afterAll(() => homeport?.remove());

const hosts = () => homeport.services.hosts;

describe('adding a host', () => {
  it('returns an identity for mutual authentication with the control plane', async () => {
    const { host, identity } = await hosts().add('web1', 'https://10.0.0.2:8470/');
    expect(host).toMatchObject({
      name: 'web1',
      address: 'https://10.0.0.2:8470',
      accepting: true,
      description: null,
      seen_at: null,
    });
    const { hostId, certificate, ca } = parseIdentity(identity);
    expect(hostId).toBe(host.id);
    const authority = new X509Certificate(ca);
    expect(new X509Certificate(certificate).verify(authority.publicKey)).toBe(true);
    // The authority stays the same.
    const again = await hostAuthority(homeport.platform);
    expect(again.client.ca).toBe(ca);
    expect(new X509Certificate(again.client.certificate).verify(authority.publicKey)).toBe(true);
    expect(await hosts().targetOf(host)).toMatchObject({ url: 'https://10.0.0.2:8470', hostId });
  });

  it('stores keys only sealed', async () => {
    const row = await homeport.platform.database.reader
      .selectFrom('host_authority')
      .selectAll()
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain('PRIVATE KEY');
    expect(homeport.platform.sealer.open(row.sealed_key)).toContain('PRIVATE KEY');
  });

  it('accepts a public name, or refuses the host with the name', async () => {
    const { host } = await hosts().add('named', 'https://10.0.0.9:8470', { publicName: '203.0.113.9' });
    expect(host.public_name).toBe('203.0.113.9');
    await hosts().remove('named');
    await expect(hosts().add('named', 'https://10.0.0.9:8470', { publicName: 'two words' })).rejects.toThrow(
      'The public name of a host',
    );
  });

  it.each([
    ['Web 1', 'https://10.0.0.2:1', /cannot be the name of a host/],
    ['-web', 'https://10.0.0.2:1', /cannot be the name of a host/],
    ['web1', 'https://10.0.0.3:1', /There is a host "web1" already/],
    ['web2', 'http://10.0.0.2:8470', /The address of a host is like/],
    ['web2', '10.0.0.2:8470', /The address of a host is like/],
    ['web2', 'https://user:secret@10.0.0.2:8470', /The address of a host is like/],
    ['web2', 'https://10.0.0.2:8470/path', /The address of a host is like/],
  ])('%s at %s is refused', async (name, address, sentence) => {
    await expect(hosts().add(name, address)).rejects.toThrow(sentence);
    expect((await hosts().list()).map((host) => host.name)).toEqual(['web1']);
  });

  it('creates one authority when many requests compete', async () => {
    const fresh = await startTestHomeport({ roles: { api: true, hosting: false } });
    const made = await Promise.all(
      ['a', 'b', 'c'].map((name) => fresh.services.hosts.add(name, `https://${name}.example:1`)),
    );
    expect(new Set(made.map(({ identity }) => parseIdentity(identity).ca)).size).toBe(1);
    await fresh.remove();
  });
});

it('gives a host a new identity', async () => {
  const renewed = parseIdentity(await hosts().renewIdentity('web1'));
  expect(renewed.hostId).toBe((await hosts().list())[0]?.id);
  await expect(hosts().renewIdentity('nobody')).rejects.toThrow('There is no host "nobody"');
});

it('renews its own certificate before it expires', async () => {
  const { client, authority } = await hostAuthority(homeport.platform);
  clock.advance(9.5 * 365 * DAY_MS);
  const later = await hostAuthority(homeport.platform);
  expect(later.client.certificate).not.toBe(client.certificate);
  expect(later.authority).toEqual(authority);
  expect(await hostAuthority(homeport.platform)).toEqual(later);
});

it('gets no new installs while it is drained', async () => {
  await hosts().setAccepting('web1', false);
  expect((await hosts().list())[0]).toMatchObject({ accepting: false });
  await hosts().setAccepting('web1', true);
  expect((await hosts().list())[0]).toMatchObject({ accepting: true });
  await expect(hosts().setAccepting('nobody', true)).rejects.toThrow('There is no host "nobody"');
});

it('is reached by a public name once it has one, and by its address again without', async () => {
  const kept = async () => (await hosts().list())[0]?.public_name;
  expect(await hosts().change('web1', { publicName: 'Web1.example.com' })).toMatchObject({
    public_name: 'web1.example.com',
  });
  expect(await kept()).toBe('web1.example.com');
  await expect(hosts().change('web1', { publicName: 'web1.example.com:22' })).rejects.toThrow(
    'The public name of a host is a host name or an address, like web2.example.com or 203.0.113.7; it is "web1.example.com:22".',
  );
  await expect(hosts().change('nobody', { publicName: null })).rejects.toThrow('There is no host "nobody"');
  expect(await kept()).toBe('web1.example.com');
  await hosts().change('web1', { publicName: null });
  expect(await kept()).toBeNull();
});

it('stores its own edge addresses in order, without duplicates, and can drop them', async () => {
  const kept = async () => (await hosts().list())[0]?.edge_addresses;
  expect(await kept()).toEqual([]);
  await hosts().change('web1', { publicName: 'web1.example.com' });
  const given = ['203.0.113.7', '2001:DB8:0::7', '203.0.113.7'];
  expect(await hosts().change('web1', { edgeAddresses: given })).toMatchObject({
    public_name: 'web1.example.com',
    edge_addresses: ['203.0.113.7', '2001:db8::7'],
  });
  for (const address of ['web1.example.com', '203.0.113.7:80', '10.1', '0.0.0.0', '::', 'fe80::1%eth0', '']) {
    await expect(hosts().change('web1', { edgeAddresses: [address] })).rejects.toThrow(
      `An edge address of a host is an IP address, like 203.0.113.7 or 2001:db8::7; it is "${address}".`,
    );
  }
  expect(await kept()).toEqual(['203.0.113.7', '2001:db8::7']);
  await hosts().change('web1', { edgeAddresses: [], publicName: null });
  expect(await kept()).toEqual([]);
  const { host } = await hosts().add('told', 'https://10.0.0.9:8470', { edgeAddresses: ['203.0.113.9'] });
  expect(host.edge_addresses).toEqual(['203.0.113.9']);
  await hosts().remove('told');
});

it('has labels, which accounts want of the hosts of their installs', async () => {
  const { database } = homeport.platform;
  const rows = storedRows(database);
  const accountId = await rows.account();
  expect(await hosts().change('web1', { labels: ['ssd', 'acme', 'ssd'], reserved: true })).toMatchObject({
    labels: ['acme', 'ssd'],
    reserved: true,
  });
  await expect(hosts().change('web1', { labels: [] })).rejects.toThrow('A reserved host without labels');
  await expect(hosts().change('web1', { labels: ['Two words'] })).rejects.toThrow(
    '"Two words" cannot be a label',
  );
  expect((await hosts().list())[0]).toMatchObject({ labels: ['acme', 'ssd'], reserved: true });
  expect(await placeAccount(homeport.platform, accountId, ['ssd'])).toEqual(['ssd']);
  expect(await labelsOfAccount(database.reader, accountId)).toEqual(['ssd']);
  await expect(placeAccount(homeport.platform, accountId, [''])).rejects.toThrow('cannot be a label');
  expect(await labelsOfAccount(database.reader, accountId)).toEqual(['ssd']);

  const [host] = await hosts().list();
  const hostId = host?.id ?? '';
  const [small, large, unmeasured] = [
    await rows.install(accountId),
    await rows.install(accountId),
    await rows.install(accountId),
  ];
  expect(await findPlacement(database.reader, small)).toMatchObject({ host_id: null, labels: ['ssd'] });
  await database.write(async ({ queries }) => {
    await queries
      .updateTable('installs')
      .set({ host_id: hostId })
      .where('account_id', '=', accountId)
      .execute();
    await queries
      .updateTable('installs')
      .set({ environment: 'production' })
      .where('id', '=', large)
      .execute();
    const measured = {
      account_id: accountId,
      data_bytes: null,
      tables_count: null,
      autoloaded_bytes: null,
      measured_at: ROWS_AT,
    };
    const days = [
      { install_id: large, day: '2026-01-01', file_bytes: 1, database_bytes: 1 },
      { install_id: large, day: '2026-01-02', file_bytes: 500, database_bytes: 20 },
      { install_id: small, day: '2026-01-01', file_bytes: 5, database_bytes: null },
    ];
    await queries
      .insertInto('usage_storage')
      .values(days.map((day) => ({ ...measured, ...day })))
      .execute();
  });
  expect(await accountsOnHosts(database.reader)).toEqual([
    { hostId, accountId, labels: ['ssd'], installs: 3, production: 1 },
  ]);
  const sizes = async (selection: Partial<MovableSelection>) =>
    (await movableInstalls(database.reader, { hostId, limit: 10, ...selection })).map(({ id, bytes }) => [
      id,
      bytes,
    ]);
  expect(await sizes({})).toEqual([
    [small, 5],
    [large, 520],
    [unmeasured, null],
  ]);
  expect(await sizes({ largestFirst: true, limit: 2 })).toEqual([
    [large, 520],
    [small, 5],
  ]);
  expect(await sizes({ accountId, onlyProduction: true })).toEqual([[large, 520]]);
  expect(await sizes({ accountId: hostId })).toEqual([]);

  await database.write(({ queries }) =>
    queries.deleteFrom('installs').where('account_id', '=', accountId).execute(),
  );
  await hosts().change('web1', { labels: [], reserved: false });
});

describe('removing a host', () => {
  it('is refused while jobs still remove websites, and while it keeps backups of deleted installs', async () => {
    const { database, queue } = homeport.platform;
    const [host] = await hosts().list();
    const id = crypto.randomUUID();
    await database.write((transaction) =>
      queue.enqueue(transaction, removeInstall, {
        payload: { id, name: 'gone', host_id: host?.id ?? '' },
        lane: id,
        delayMs: 60_000,
      }),
    );
    await expect(hosts().remove('web1')).rejects.toThrow(/are still being removed from the host "web1"/);
    clock.advance(120_000);
    await homeport.idle();
    const { accountId } = await homeport.ownedAccount();
    const now = clock.now().toISOString();
    await database.write(({ queries }) =>
      queries
        .insertInto('deleted_installs')
        .values({
          ...{ id, account_id: accountId, name: 'gone', host_id: host?.id ?? '', state: 'kept' },
          ...{ backup_id: id, reason: null, kept: '{}', deleted_at: now, expires_at: now },
        })
        .execute(),
    );
    await expect(hosts().remove('web1')).rejects.toThrow(/"web1" keeps backups of deleted installs/);
    await database.write(({ queries }) =>
      queries.deleteFrom('deleted_installs').where('id', '=', id).execute(),
    );
    await hosts().remove('web1');
    expect(await hosts().list()).toEqual([]);
    await expect(hosts().remove('web1')).rejects.toThrow('There is no host "web1"');
  });
});

describe('a platform with an embedded host', () => {
  it('has no hosts and offers no PHP, with an error that says so', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { id, name } = await homeport.install(owner, accountId);
    const { reader } = homeport.platform.database;
    expect(await clusterOf(reader, homeport.config, id)).toBe('embedded');
    expect(await clusterOf(reader, { host: 'linux' }, id)).toBe('');
    expect(await hostServing(reader, `${name}.localhost`)).toBeNull();
    const refused = await owner.client.post('/installs', {
      name: 'phpshop',
      account_id: accountId,
      php_version: '8.2',
    });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        errors: [{ code: 'not_offered', message: 'PHP 8.2 is not offered; websites here run no PHP' }],
      },
    });
    await expect(homeport.services.installs.switchWordpress(name, '6.8')).rejects.toThrow(
      'This website consists of files, without WordPress.',
    );
  });
});
