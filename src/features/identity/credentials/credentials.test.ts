import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { createResources, publicKey, type ResourceSet } from '../../../../test/contract/resource-set.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { manualClock } from '../../../../test/manual-clock.ts';
import { type PortalClient, signedIn } from '../../../../test/portal-client.ts';
import { ownCertificateFile, readOwnCertificate } from '../../../api/api-certificate.ts';
import { readConfig } from '../../../config/config.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';

const clock = manualClock(new Date());
let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let portal: PortalClient;
/** An account with installs inside and outside the limits of the credentials. */
let resources: ResourceSet;
let others: ResourceSet;

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false }, clock });
  ({ owner, accountId } = await homeport.ownedAccount());
  resources = await createResources(homeport, owner, accountId);
  others = await createResources(homeport, owner, accountId);
  portal = await signedIn(homeport, owner);
});
afterAll(() => homeport?.remove());

const inAnHour = () => new Date(clock.now().getTime() + HOUR_MS).toISOString();

/** Creates a credential in the portal, and a client that uses it. */
async function made(input: object, by = portal) {
  const answer = await by.post('/credentials', { name: 'test', ...input });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const credential = { username: text(answer.body, 'id'), password: text(answer.body, 'password') };
  return { id: credential.username, body: answer.body, client: homeport.clientOf(credential) };
}

const listed = async (by = portal) => {
  const { body } = await by.get('/credentials');
  const results = field(body, 'results');
  if (!Array.isArray(results)) throw new Error('no list');
  return results;
};

describe('credentials of a user', () => {
  it('show their password once, and work until they are revoked', async () => {
    const { id, body, client } = await made({ name: ' Deployment ', expires_at: inAnHour() });
    expect(body).toMatchObject({
      name: 'Deployment',
      read_only: false,
      account: null,
      installs: null,
      revoked_at: null,
      last_used_at: null,
    });
    expect((await client.get('/user')).body).toMatchObject({ id: owner.userId });
    const [latest] = await listed();
    expect(latest).toMatchObject({ id, name: 'Deployment' });
    expect(latest).not.toHaveProperty('password');
    expect((await portal.delete(`/credentials/${id}`)).status).toBe(204);
    expect((await client.get('/user')).status).toBe(401);
    expect((await listed())[0]).toMatchObject({ id, revoked_at: expect.any(String) });
    expect((await portal.delete(`/credentials/${id}`)).status).toBe(204);
  });

  it('come with the certificate of the API if it is self-signed', async () => {
    const certificate = readFileSync(ownCertificateFile(homeport.config.dataDir), 'utf8');
    expect(await portal.get('/api_certificate')).toMatchObject({ status: 200, body: { certificate } });
    expect(await readOwnCertificate({ ...homeport.config, tlsCert: '/etc/api.crt' })).toBeNull();
    const proxied = readConfig({ HOMEPORT_TRUST_PROXY: '10.0.0.1' });
    expect(await readOwnCertificate(proxied)).toBeNull();
  });

  it('have a single-line name', async () => {
    for (const name of ['a\r\nb', 'a\u202eb', '\u001b[31m']) {
      expect(await portal.post('/credentials', { name })).toMatchObject({
        status: 400,
        body: { message: 'The name must be one line of text without control characters' },
      });
    }
  });

  it('are listed for thirty days after revocation or expiry', async () => {
    const other = await homeport.person();
    const by = await signedIn(homeport, other);
    const revoked = await made({ name: 'revoked' }, by);
    await made({ name: 'expired', expires_at: inAnHour() }, by);
    await by.delete(`/credentials/${revoked.id}`);
    const names = async () => {
      // Sessions end sooner.
      const again = await signedIn(homeport, other);
      return (await listed(again)).map((credential) => text(credential, 'name'));
    };
    clock.advance(30 * DAY_MS);
    expect(await names()).toEqual(['expired', 'revoked', 'test']);
    clock.advance(1);
    expect(await names()).toEqual(['expired', 'test']);
    clock.advance(HOUR_MS);
    expect(await names()).toEqual(['test']);
    portal = await signedIn(homeport, owner);
  });

  it('are hidden from other users', async () => {
    const { id, client } = await made({});
    const colleague = await signedIn(homeport, await homeport.person(accountId, 'owner'));
    expect(await listed(colleague)).toMatchObject([{ name: 'test' }]);
    const hidden = await colleague.delete(`/credentials/${id}`);
    expect(hidden.status).toBe(404);
    expect((await colleague.delete(`/credentials/${crypto.randomUUID()}`)).body).toEqual(hidden.body);
    expect((await client.get('/user')).status).toBe(200);
  });

  it('are limited to a hundred active ones', async () => {
    const person = await homeport.person(accountId, 'full');
    const theirs = await signedIn(homeport, person);
    await made({ expires_at: inAnHour() }, theirs);
    for (let n = 0; n < 97; n++)
      await homeport.services.credentials.issue(person.userId, { name: String(n) });
    const { id } = await made({}, theirs);
    const refused = await theirs.post('/credentials', { name: 'one more' });
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('Revoke one') } });
    await theirs.delete(`/credentials/${id}`);
    await made({}, theirs);
    expect((await theirs.post('/credentials', { name: 'one more' })).status).toBe(400);
  });

  it('are logged in the accounts that they reach', async () => {
    const { accountId: second, owner: person } = await homeport.ownedAccount();
    const theirs = await signedIn(homeport, person);
    await homeport.services.accountUsers.addByOperator(
      { account_id: accountId, first_name: 'T', last_name: 'P', email: person.email, roles: 'full' },
      { installNames: [], invite: false },
    );
    const rowsOf = (id: string) =>
      homeport.platform.database.reader
        .selectFrom('activity')
        .select(['action', 'account_id', 'means', 'details', 'user_id'])
        .where('subject_id', '=', id)
        .orderBy('seq')
        .execute();
    const wide = await made({}, theirs);
    const narrow = await made(
      { account_id: accountId, install_ids: [resources.install_id], read_only: true },
      theirs,
    );
    await theirs.delete(`/credentials/${narrow.id}`);
    await theirs.delete(`/credentials/${narrow.id}`);
    expect(new Set((await rowsOf(wide.id)).map((row) => row.account_id))).toEqual(
      new Set([second, accountId]),
    );
    const common = { account_id: accountId, means: 'portal', user_id: person.userId };
    expect(await rowsOf(narrow.id)).toEqual([
      { ...common, action: 'credential.create', details: { read_only: true, installs: 1 } },
      { ...common, action: 'credential.revoke', details: null },
    ]);
    await homeport.services.credentials.revoke(wide.id);
    expect((await rowsOf(wide.id)).at(-1)).toMatchObject({ means: 'command_line', user_id: null });
  });
});

describe('a credential is refused', () => {
  const faultsOf = async (input: object, by = portal) => {
    const { status, body } = await by.post('/credentials', { name: 'test', ...input });
    expect(status).toBe(400);
    const faults = field(body, 'errors');
    return Array.isArray(faults) ? faults : [];
  };

  it('with a past or malformed expiry', async () => {
    for (const expires_at of [clock.now().toISOString(), '2016-12-31T23:59:60Z']) {
      expect(await faultsOf({ expires_at })).toMatchObject([{ field: 'expires_at' }]);
    }
  });

  it('for an account of others, as for an unknown one', async () => {
    const stranger = await homeport.ownedAccount();
    const foreign = await faultsOf({ account_id: stranger.accountId });
    expect(foreign).toMatchObject([{ field: 'account_id', code: 'not_permitted' }]);
    expect(await faultsOf({ account_id: crypto.randomUUID() })).toEqual(foreign);
  });

  it('for installs without an account', async () => {
    expect(await faultsOf({ install_ids: [resources.install_id] })).toMatchObject([{ field: 'account_id' }]);
  });

  it('for hidden installs, with one fault each and all other faults', async () => {
    const person = await homeport.person(accountId, 'partial', [resources.install_id]);
    const theirs = await signedIn(homeport, person);
    const install_ids = [others.install_id, resources.install_id.toUpperCase(), crypto.randomUUID()];
    const faults = await faultsOf(
      { account_id: accountId, install_ids, expires_at: '2020-01-01T00:00:00Z' },
      theirs,
    );
    expect(faults.map((fault: unknown) => field(fault, 'field'))).toEqual([
      'expires_at',
      'install_ids.0',
      'install_ids.2',
    ]);
    expect(field(faults[1], 'message')).toBe(field(faults[2], 'message'));
    await made({ account_id: accountId.toUpperCase(), install_ids: [resources.install_id] }, theirs);
  });
});

describe('a read-only credential', () => {
  it('reads all that its user sees except private keys, and changes nothing', async () => {
    const { client } = await made({ read_only: true });
    const path = `/installs/${resources.install_id}/domains/${resources.domain_id}/ssl_certificate`;
    expect(field((await owner.client.get(path)).body, 'cert_info', 'key')).toContain('PRIVATE KEY');
    expect(field((await client.get(path)).body, 'cert_info', 'key')).toBe('');
    const seen = await owner.client.get('/installs');
    expect((await client.get('/installs')).body).toEqual(seen.body);
    const before = await owner.client.get(`/sites/${resources.site_id}`);
    expect((await client.patch(`/sites/${resources.site_id}`, { name: 'Other' })).status).toBe(403);
    expect((await client.delete(`/installs/${resources.install_id}`)).status).toBe(403);
    expect((await client.post('/ssh_keys', { public_key: publicKey() })).status).toBe(403);
    expect((await owner.client.get(`/sites/${resources.site_id}`)).body).toEqual(before.body);
  });
});

describe('a credential for one account', () => {
  it('has the rights of its user in that account, and none elsewhere', async () => {
    const { accountId: second, owner: person } = await homeport.ownedAccount();
    const theirs = await createResources(homeport, person, second);
    await homeport.services.accountUsers.addByOperator(
      { account_id: accountId, first_name: 'T', last_name: 'P', email: person.email, roles: 'full' },
      { installNames: [], invite: false },
    );
    const { client, body } = await made({ account_id: second }, await signedIn(homeport, person));
    expect(body).toMatchObject({ account: { id: second, name: 'An account' }, installs: null });
    expect((await person.client.get('/accounts')).body).toMatchObject({ count: 2 });
    expect((await client.get('/accounts')).body).toMatchObject({ count: 1, results: [{ id: second }] });
    expect((await client.get(`/accounts/${accountId}`)).status).not.toBe(200);
    for (const [list, count] of [
      ['/sites', 2],
      ['/installs', 2],
    ] as const) {
      expect((await client.get(list)).body).toMatchObject({
        count,
        results: Array(count).fill({ account: { id: second } }),
      });
      expect((await client.get(`${list}?account_id=${accountId}`)).body).toMatchObject({
        count: 0,
        results: [],
      });
    }
    const more = { name: installName(), account_id: accountId };
    expect((await client.post('/installs', more)).status).toBe(400);
    expect((await client.post('/installs', { ...more, account_id: second })).status).toBe(201);
    expect((await client.delete(`/installs/${theirs.install_id}`)).status).toBe(204);
  });

  it('cannot add or remove SSH keys, which reach every account', async () => {
    const { client } = await made({ account_id: accountId });
    expect((await client.get('/ssh_keys')).body).toMatchObject({ count: 2 });
    expect((await client.post('/ssh_keys', { public_key: publicKey() })).status).toBe(403);
    expect((await client.delete(`/ssh_keys/${resources.ssh_key_id}`)).status).toBe(403);
    expect((await owner.client.get('/ssh_keys')).body).toMatchObject({ count: 2 });
  });
});

describe('a credential for some installs', () => {
  const forOne = () => made({ account_id: accountId, install_ids: [resources.install_id] });

  it('lists and counts those, and the sites that contain them', async () => {
    const { client, body } = await forOne();
    expect(body).toMatchObject({ installs: [{ id: resources.install_id, name: expect.any(String) }] });
    expect((await client.get('/installs')).body).toMatchObject({
      count: 1,
      results: [{ id: resources.install_id }],
    });
    expect((await client.get('/sites')).body).toMatchObject({
      count: 1,
      results: [{ id: resources.site_id, installs: [{ id: resources.install_id }] }],
    });
    expect((await client.get(`/sites/${others.site_id}`)).status).not.toBe(200);
    expect((await client.get(`/installs/${others.install_id}/domains`)).status).not.toBe(200);
  });

  it('sees only its installs of a site', async () => {
    const more = {
      name: installName(),
      account_id: accountId,
      site_id: resources.site_id,
      environment: 'staging',
    };
    const second = text((await owner.client.post('/installs', more)).body, 'id');
    const { client } = await forOne();
    const site = await client.get(`/sites/${resources.site_id}`);
    expect(field(site.body, 'installs')).toMatchObject([{ id: resources.install_id }]);
    expect(field(site.body, 'installs', 1)).toBeUndefined();
    await owner.client.delete(`/installs/${second}`);
  });

  it('has the rights of a partial user', async () => {
    const { client } = await forOne();
    const domains = `/installs/${resources.install_id}/domains`;
    const domain = await client.post(domains, { name: 'limited.example.com' });
    expect(domain.status).toBe(201);
    expect((await client.delete(`${domains}/${text(domain.body, 'id')}`)).status).toBe(204);
    expect(
      (await client.post(`/installs/${resources.install_id}/purge_cache`, { type: 'page' })).status,
    ).toBe(202);
    expect((await client.patch(`/sites/${resources.site_id}`, { name: 'Other' })).status).toBe(403);
    expect((await client.post('/sites', { name: 'Other', account_id: accountId })).status).toBe(403);
    const certificate = await client.get(`${domains}/${resources.domain_id}/ssl_certificate`);
    expect(field(certificate.body, 'cert_info', 'key')).toBe('');
    const users = await client.get(`/accounts/${accountId}/account_users`);
    expect(users.body).toMatchObject({ results: [{ user_id: owner.userId }] });
    expect(field(users.body, 'results', 1)).toBeUndefined();
  });

  it('loses installs that its user loses', async () => {
    const person = await homeport.person(accountId, 'partial', [resources.install_id, others.install_id]);
    const theirs = await signedIn(homeport, person);
    const { client } = await made(
      { account_id: accountId, install_ids: [resources.install_id, others.install_id] },
      theirs,
    );
    expect((await client.get('/installs')).body).toMatchObject({ count: 2 });
    const entry = `/accounts/${accountId}/account_users/${person.userId}`;
    await owner.client.patch(entry, { roles: 'partial', install_ids: [resources.install_id] });
    expect((await client.get('/installs')).body).toMatchObject({ count: 1 });
    expect((await client.get('/sites')).body).toMatchObject({ count: 1 });
    expect((await client.get(`/installs/${others.install_id}`)).status).not.toBe(200);
    await owner.client.delete(entry);
    expect((await client.get('/installs')).body).toMatchObject({ count: 0 });
    expect((await client.get('/accounts')).body).toMatchObject({ count: 0 });
    expect((await client.get(`/installs/${resources.install_id}`)).status).not.toBe(200);
    expect((await client.get('/user')).status).toBe(200);
  });

  it('shows its user’s entry with only its installs', async () => {
    const person = await homeport.person(accountId, 'partial', [resources.install_id, others.install_id]);
    const { client } = await made(
      { account_id: accountId, install_ids: [others.install_id] },
      await signedIn(homeport, person),
    );
    const entry = await client.get(`/accounts/${accountId}/account_users/${person.userId}`);
    expect(field(entry.body, 'installs')).toMatchObject([{ id: others.install_id }]);
    expect(field(entry.body, 'installs', 1)).toBeUndefined();
  });

  it('hides names from a user who no longer sees them, but not from the operator', async () => {
    const person = await homeport.person(accountId, 'partial', [resources.install_id, others.install_id]);
    const browser = await signedIn(homeport, person);
    const both = [resources.install_id, others.install_id];
    const { id } = await made({ account_id: accountId, install_ids: both }, browser);
    const shown = async () =>
      (await listed(browser)).find((one: unknown) => field(one, 'id') === id) ?? 'nothing';
    expect(await shown()).toMatchObject({
      account: { name: 'An account' },
      installs: both.map((id) => ({ id })),
    });
    const path = `/accounts/${accountId}/account_users/${person.userId}`;
    await homeport.platform.database.write(({ queries }) =>
      queries
        .deleteFrom('install_grants')
        .where('user_id', '=', person.userId)
        .where('install_id', '=', others.install_id)
        .execute(),
    );
    expect(await shown()).toMatchObject({ installs: [{ id: resources.install_id }] });
    expect((await owner.client.delete(path)).status).toBe(204);
    expect(await shown()).toMatchObject({
      account: { id: accountId, name: 'an account that is no longer yours' },
      installs: [],
    });
    const [all] = (await homeport.services.credentials.list(person.email)).filter((one) => one.id === id);
    expect(all).toMatchObject({ account: { name: 'An account' }, installs: both.map((id) => ({ id })) });
  });

  it('reaches nothing after its installs are deleted', async () => {
    const more = { name: installName(), account_id: accountId };
    const doomed = text((await owner.client.post('/installs', more)).body, 'id');
    const { id, client } = await made({ account_id: accountId, install_ids: [doomed] });
    expect((await client.get('/installs')).body).toMatchObject({ count: 1 });
    await owner.client.delete(`/installs/${doomed}`);
    expect((await client.get('/installs')).body).toMatchObject({ count: 0, results: [] });
    expect((await client.get('/sites')).body).toMatchObject({ count: 0, results: [] });
    expect((await listed()).find((one: unknown) => field(one, 'id') === id)).toMatchObject({
      account: { id: accountId },
      installs: [],
    });
  });
});
