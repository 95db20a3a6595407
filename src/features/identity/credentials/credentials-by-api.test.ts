import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { spendAllBut } from '../../../../test/spent-limit.ts';
import { RATE_LIMITS } from '../../../access/rate-limits.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import type { WantedLimits } from './rules.ts';

let clock: ManualClock;
let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let otherAccountId: string;
let one: string;
let two: string;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
  ({ owner, accountId } = await homeport.ownedAccount());
  otherAccountId = await homeport.account();
  await homeport.platform.database.write(({ queries }) =>
    queries
      .insertInto('memberships')
      .values({
        account_id: otherAccountId,
        user_id: owner.userId,
        role: 'owner',
        billing: false,
        invite_accepted: true,
        created_at: timestamp(clock),
      })
      .execute(),
  );
  one = (await homeport.install(owner, accountId)).id;
  two = (await homeport.install(owner, accountId)).id;
});
afterAll(() => homeport?.remove());

/** A client with a credential of the owner. */
async function clientWith(limits: Partial<WantedLimits>, expiresAt: Date | null = null) {
  const issued = await homeport.services.credentials.issue(owner.userId, {
    name: 'creator',
    expiresAt,
    limits: { readOnly: false, accountId: null, installs: null, ...limits },
  });
  return { id: issued.username, client: homeport.clientOf(issued) };
}

const installs = (...values: string[]): WantedLimits['installs'] => ({ by: 'id', values });

/** The limits of a credential. */
const WIDTHS = ['everything', 'account', 'other account', 'both installs', 'one install', 'two'] as const;
type Width = (typeof WIDTHS)[number];

function limitsOf(width: Width): { accountId: string | null; installs: WantedLimits['installs'] } {
  switch (width) {
    case 'everything':
      return { accountId: null, installs: null };
    case 'account':
      return { accountId, installs: null };
    case 'other account':
      return { accountId: otherAccountId, installs: null };
    case 'both installs':
      return { accountId, installs: installs(one, two) };
    case 'one install':
      return { accountId, installs: installs(one) };
    case 'two':
      return { accountId, installs: installs(two) };
  }
}

const bodyOf = (width: Width) => {
  const { accountId: account_id, installs: wanted } = limitsOf(width);
  return { name: 'child', account_id, install_ids: wanted?.values ?? null };
};

/** Credentials that each width may create. */
const WITHIN: Record<Width, readonly Width[]> = {
  everything: WIDTHS,
  account: ['account', 'both installs', 'one install', 'two'],
  'other account': ['other account'],
  'both installs': ['both installs', 'one install', 'two'],
  'one install': ['one install'],
  two: ['two'],
};

describe.each(WIDTHS)('a credential limited to: %s', (creator) => {
  it.each(WIDTHS)('creates one limited to: %s, only if that is no wider', async (wanted) => {
    const { client } = await clientWith(limitsOf(creator));
    const answer = await client.post('/credentials', bodyOf(wanted));
    if (!WITHIN[creator].includes(wanted)) {
      expect(answer.status).toBe(400);
      expect(field(answer.body, 'errors', 0, 'type')).toBe('access_error');
      return;
    }
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(answer.headers.location).toBe(`/v1/credentials/${text(answer.body, 'id')}`);
    const child = { username: text(answer.body, 'id'), password: text(answer.body, 'password') };
    const reached = await homeport.clientOf(child).get('/installs');
    const { accountId: account, installs: limited } = limitsOf(wanted);
    const expected = account === otherAccountId ? [] : (limited?.values ?? [one, two]);
    const results = field(reached.body, 'results');
    expect(Array.isArray(results) && results.map((item) => text(item, 'id'))).toEqual(expected);
  });

  it('lists and revokes those that reach no more', async () => {
    const { client, id } = await clientWith(limitsOf(creator));
    for (const width of WIDTHS) {
      const other = await clientWith({ ...limitsOf(width), readOnly: true });
      const list = await client.get('/credentials');
      const results = field(list.body, 'results');
      const ids = Array.isArray(results) ? results.map((item) => text(item, 'id')) : [];
      const within = WITHIN[creator].includes(width);
      expect([width, ids.includes(other.id)]).toEqual([width, within]);
      expect(ids).toContain(id);
      expect(field(list.body, 'count')).toBe(ids.length < 100 ? ids.length : expect.any(Number));
      expect((await client.delete(`/credentials/${other.id}`)).status).toBe(within ? 204 : 404);
    }
    expect((await client.delete(`/credentials/${id}`)).status).toBe(204);
    expect((await client.get('/credentials')).status).toBe(401);
  });
});

describe('expiry and reading', () => {
  it('a credential creates none that outlives it', async () => {
    const expires = new Date(clock.now().getTime() + DAY_MS);
    const { client } = await clientWith({}, expires);
    for (const [expires_at, status] of [
      [undefined, 400],
      [null, 400],
      [new Date(expires.getTime() + 1).toISOString(), 400],
      [expires.toISOString(), 201],
      [timestamp(clock, HOUR_MS), 201],
    ] as const) {
      const answer = await client.post('/credentials', { name: 'child', expires_at });
      expect(answer.status, String(expires_at)).toBe(status);
      if (status === 400) {
        expect(answer.body).toMatchObject({
          message: `This credential expires at ${expires.toISOString()}; give the same or an earlier time`,
          errors: [{ resource: 'Credential', field: 'expires_at', type: 'access_error', code: 'wider' }],
        });
      }
    }
  });

  it('a read-only credential lists, and creates and revokes nothing', async () => {
    const { client, id } = await clientWith({ readOnly: true });
    expect((await client.get('/credentials')).status).toBe(200);
    expect((await client.post('/credentials', { name: 'child', read_only: true })).status).toBe(403);
    expect((await client.delete(`/credentials/${id}`)).status).toBe(403);
  });

  it('reports every fault at once', async () => {
    const { client } = await clientWith(limitsOf('one install'), new Date(clock.now().getTime() + DAY_MS));
    expect((await client.post('/credentials', { name: 'child' })).body).toMatchObject({
      errors: [
        { field: 'account_id', code: 'wider' },
        { field: 'install_ids', code: 'wider' },
        { field: 'expires_at', code: 'wider' },
      ],
    });
  });
});

it('shows own credentials only, latest first, in pages', async () => {
  const other = await homeport.person(accountId, 'owner');
  for (const name of ['first', 'second']) {
    expect((await other.client.post('/credentials', { name })).status).toBe(201);
  }
  const names = async (query = '') => {
    const { body } = await other.client.get(`/credentials${query}`);
    const results = field(body, 'results');
    return [
      field(body, 'count'),
      ...(Array.isArray(results) ? results.map((item) => text(item, 'name')) : []),
    ];
  };
  expect(await names()).toEqual([3, 'second', 'first', 'test']);
  expect(await names('?limit=1&offset=1')).toEqual([3, 'first']);
  expect(JSON.stringify((await other.client.get('/credentials')).body)).not.toContain('password');
  expect((await owner.client.delete(`/credentials/${other.credential.username}`)).status).toBe(404);
  expect((await other.client.get('/user')).status).toBe(200);
});

it('a credential that ends during its own request creates none', async () => {
  const { client, id } = await clientWith({});
  expect((await client.get('/user')).status).toBe(200);
  // Another process revokes it; this one still trusts its cache.
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('credentials')
      .set({ revoked_at: timestamp(clock) })
      .where('id', '=', id)
      .execute(),
  );
  expect((await client.get('/user')).status).toBe(200);
  expect(await client.post('/credentials', { name: 'child' })).toMatchObject({
    status: 401,
    body: { message: 'Bad Credentials' },
  });
});

it('notifies its user by email, with the name of the creating credential', async () => {
  const person = await homeport.person(accountId, 'owner');
  await homeport.setPassword(person, 'correct horse battery staple');
  expect((await person.client.post('/credentials', { name: 'Deployment', read_only: true })).status).toBe(
    201,
  );
  await homeport.idle();
  const [mail] = mailsTo(homeport, person.email);
  expect(mail?.text).toContain('Deployment');
  expect(mail?.text).toContain('test');
});

it('a user creates at most 200 in an hour', async () => {
  expect(RATE_LIMITS.newCredentials).toMatchObject({ size: 200, windowSeconds: 3_600 });
  const person = await homeport.person(accountId, 'owner');
  const { client } = person;
  await spendAllBut(homeport, RATE_LIMITS.newCredentials, { subject: person.userId, left: 10 });
  for (let count = 0; count < 10; count += 1) {
    const { status, body } = await client.post('/credentials', { name: `number ${count}` });
    expect(status).toBe(201);
    expect((await client.delete(`/credentials/${text(body, 'id')}`)).status).toBe(204);
  }
  expect(await client.post('/credentials', { name: 'one more' })).toMatchObject({
    status: 429,
    body: { message: 'Too many new credentials' },
  });
});
