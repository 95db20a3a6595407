import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../../test/activity.ts';
import { field, text } from '../../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../../test/homeport.ts';
import { NOT_FOUND } from '../../../../../test/refusal.ts';
import { loadDesiredState } from '../../../provisioning/desired-state.ts';
import { basic, type Install, ruleCalls } from '../rules.fixture.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const { install: newInstall, change, visit, visitName } = ruleCalls(() => ({ homeport, accountId, owner }));
const pathOf = ({ id }: Install) => `/installs/${id}/protection`;
const read = async (install: Install, client = owner.client) => (await client.get(pathOf(install))).body;
const update = (install: Install, json: object) => change('PATCH', pathOf(install), json);
/** The key of the passes that visitors with the password get. */
const passKeyOf = async ({ id }: Install) =>
  (await loadDesiredState(homeport.platform, id))?.rules?.password?.passKey;

const USUAL = {
  xmlrpc: 'allowed',
  blocked_addresses: [],
  noindex: 'automatic',
  password: { enabled: false, password: null, allowed_addresses: [] },
};

describe('a new install', () => {
  it('for production is open to everyone', async () => {
    const install = await newInstall('production');
    expect(await read(install)).toEqual({
      ...USUAL,
      password: { ...USUAL.password, username: install.name },
    });
    expect((await visit(install)).status).toBe(200);
  });

  it.each(['staging', 'development'])(
    'for %s asks for a password that its users can read',
    async (environment) => {
      const install = await newInstall(environment);
      const asked = await visit(install);
      expect(asked).toMatchObject({
        status: 401,
        headers: {
          'www-authenticate': `Basic realm="${install.name}", charset="UTF-8"`,
          'x-robots-tag': 'noindex',
        },
      });
      const { body } = await owner.client.get(pathOf(install));
      expect(field(body, 'password', 'enabled')).toBe(true);
      const password = text(body, 'password', 'password');
      expect(password).toMatch(/^[a-z2-9]{4}(-[a-z2-9]{4}){3}$/);
      expect((await visit(install, '/', basic(install.name, password))).status).toBe(200);
      expect((await visit(install, '/', basic(install.name, `${password}x`))).status).toBe(401);
    },
  );
});

describe('a change', () => {
  let install: Install;
  beforeAll(async () => {
    install = await newInstall();
  });

  it('sets a password, and removes it again', async () => {
    const answer = await update(install, {
      password: { enabled: true, username: 'client', password: 'a long secret' },
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { ...USUAL, password: { enabled: true, username: 'client', password: 'a long secret' } },
    });
    expect((await visit(install)).status).toBe(401);
    expect((await visit(install, '/', basic('client', 'a long secret'))).status).toBe(200);
    await update(install, { password: { allowed_addresses: ['127.0.0.0/8'] } });
    expect((await visit(install)).status).toBe(200);
    await update(install, { password: { enabled: false, allowed_addresses: [] } });
    expect((await visit(install)).status).toBe(200);
    expect(await read(install)).toMatchObject({ password: { enabled: false, password: 'a long secret' } });
  });

  it('chooses a password if none is given, and another one for null', async () => {
    const passwordOf = async (json: object) =>
      text((await update(install, { password: json })).body, 'password', 'password');
    expect(await passwordOf({ enabled: true })).toBe('a long secret');
    const chosen = await passwordOf({ password: null });
    expect(chosen).toMatch(/^[a-z2-9-]{19}$/);
    const key = await passKeyOf(install);
    expect(await passwordOf({ password: null })).not.toBe(chosen);
    // Passes of the former password end.
    expect(await passKeyOf(install)).not.toBe(key);
    await update(install, { password: { enabled: false } });
  });

  it('keeps search engines away from every name, and always from the default domain', async () => {
    const name = `${install.name}.example.com`;
    await change('POST', `/installs/${install.id}/domains`, { name });
    const robots = async (of: string) => (await visitName(of)).headers['x-robots-tag'];
    for (const [noindex, expected] of [
      ['automatic', undefined],
      ['on', 'noindex'],
      ['off', undefined],
    ] as const) {
      expect((await update(install, { noindex })).body).toMatchObject({ noindex });
      expect([await robots(name), await robots(`${install.name}.localhost`)]).toEqual([expected, 'noindex']);
    }
  });

  it('blocks addresses, and merges them', async () => {
    const answer = await update(install, {
      blocked_addresses: ['192.0.2.7/24', '192.0.2.9', '2001:DB8::1', '::ffff:198.51.100.1'],
    });
    expect(answer.body).toMatchObject({
      blocked_addresses: ['192.0.2.0/24', '198.51.100.1', '2001:db8::1'],
    });
    expect((await visit(install)).status).toBe(200);
    await update(install, { blocked_addresses: ['127.0.0.1'] });
    const refused = await visit(install);
    expect(refused).toMatchObject({ status: 403, body: expect.stringContaining('Forbidden') });
    await update(install, { blocked_addresses: [] });
    expect((await visit(install)).status).toBe(200);
  });

  it('that changes nothing starts no operation, and is not recorded', async () => {
    const entries = async () => (await activityOf(homeport, accountId)).length;
    const before = await entries();
    const answer = await update(install, { xmlrpc: 'allowed' });
    expect(answer.headers).not.toHaveProperty('location');
    expect(await entries()).toBe(before);
  });

  it('is recorded without the password', async () => {
    await update(install, { xmlrpc: 'blocked', password: { enabled: true, password: 'another secret' } });
    const recorded = (await activityOf(homeport, accountId)).findLast(
      ({ action }) => action === 'protection.update',
    );
    expect(recorded).toMatchObject({
      install_id: install.id,
      details: { xmlrpc: 'blocked', password: 'on', new_password: true },
    });
    expect(JSON.stringify(recorded)).not.toContain('another secret');
    await update(install, { password: { enabled: false } });
  });

  it.each([
    [{ xmlrpc: 'no' }, 'xmlrpc'],
    [{ noindex: true }, 'noindex'],
    [{ blocked_addresses: ['192.0.2.1', 'example.com'] }, 'blocked_addresses.1'],
    [{ blocked_addresses: ['0.0.0.0/0'] }, 'blocked_addresses.0'],
    [{ blocked_addresses: Array.from({ length: 201 }, (_, at) => `10.0.0.${at}`) }, 'blocked_addresses'],
    [{ password: { username: 'with:colon' } }, 'password.username'],
    [{ password: { password: 'short' } }, 'password.password'],
    [{ password: { password: 'x'.repeat(65) } }, 'password.password'],
    [{ password: { allowed_addresses: ['::/0'] } }, 'password.allowed_addresses.0'],
  ])('%j is refused', async (json, name) => {
    const answer = await owner.client.call('PATCH', pathOf(install), { json });
    expect(answer.status).toBe(400);
    expect(field(answer.body, 'errors', 0, 'field')).toBe(name);
  });
});

it('credentials that only read see no password, and strangers see nothing', async () => {
  const install = await newInstall('staging');
  const partial = await homeport.person(accountId, 'partial', [install.id]);
  expect(text(await read(install, partial.client), 'password', 'password')).toMatch(/-/);
  const limits = { readOnly: true, accountId: null, installs: null };
  const credential = await homeport.services.credentials.issue(owner.userId, {
    name: 'reads',
    expiresAt: null,
    limits,
  });
  const seen = await read(install, homeport.clientOf(credential));
  expect(seen).toMatchObject({ password: { enabled: true, password: null } });
  const stranger = await homeport.ownedAccount();
  expect(await stranger.owner.client.get(pathOf(install))).toMatchObject(NOT_FOUND);
  expect(await stranger.owner.client.call('PATCH', pathOf(install), { json: {} })).toMatchObject(NOT_FOUND);
});

it('an environment for staging keeps search engines away from every name', async () => {
  const install = await newInstall('production');
  const { platform } = homeport;
  expect(await loadDesiredState(platform, install.id)).not.toHaveProperty('rules');
  const moved = await change('PATCH', `/installs/${install.id}`, { environment: 'development' });
  expect(moved.status).toBe(200);
  expect(await loadDesiredState(platform, install.id)).toMatchObject({
    rules: { noindex: true, password: null },
  });
});
