import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { enrol } from '../../../../test/one-time-codes.ts';
import { onlyOn } from '../../../../test/only-on.ts';
import {
  createPortalClient,
  givePassword,
  PASSWORD,
  type PortalClient,
  signedIn,
} from '../../../../test/portal-client.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { hashSecret } from '../../../secrets/random-secret.ts';
import { deleteExpiredSessions } from '../sessions/store.ts';

/** A test of a rule, which runs once: other tests reach its queries. */
const rule = onlyOn('sqlite', it);

let homeport: TestHomeport;
let clock: ManualClock;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
});
afterAll(() => homeport.remove());

async function personWithPassword(): Promise<Person> {
  const person = await homeport.person();
  await givePassword(homeport, person);
  return person;
}

const BAD_CREDENTIALS = { status: 401, body: { message: 'Bad Credentials' } };
const NOT_SIGNED_IN = { status: 401, body: { message: 'Authentication required' } };
const EXPIRED = { status: 401, body: { ...NOT_SIGNED_IN.body, errors: [{ code: 'session_expired' }] } };

const resultsOf = async (browser: PortalClient) => {
  const results = field((await browser.get('/sessions')).body, 'results');
  return Array.isArray(results) ? results : [];
};
const statusOf = async (browser: PortalClient) => (await browser.get('/session')).status;

describe('signing in', () => {
  rule('sets a cookie that only pages of the portal send and no script can read', async () => {
    const person = await personWithPassword();
    const browser = createPortalClient(homeport);
    const answer = await browser.signIn(person.email, PASSWORD);
    expect(answer).toMatchObject({ status: 200, body: { stage: 'full' } });
    const [cookie = ''] = [answer.headers['set-cookie'] ?? ''].flat();
    expect(cookie).toMatch(/^__Host-homeport-session=[\w-]{43};/);
    const attributes = cookie.split(/;\s*/).slice(1);
    expect(attributes.filter((attribute) => !attribute.startsWith('Expires=')).sort()).toEqual([
      'HttpOnly',
      'Path=/',
      'SameSite=Lax',
      'Secure',
    ]);
    const expires = attributes.find((attribute) => attribute.startsWith('Expires=')) ?? '';
    const days = (Date.parse(expires.slice('Expires='.length)) - clock.now().getTime()) / DAY_MS;
    // Seven days longer than the session, so that the portal learns that it expired.
    expect(days).toBeCloseTo(37, 3);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  rule('shows the user and their permissions by account', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, owner);
    expect((await browser.get('/session')).body).toEqual({
      stage: 'full',
      second_factors: [],
      user: {
        id: owner.userId,
        email: owner.email,
        first_name: 'Test',
        last_name: 'Person',
        phone: null,
        mfa_enabled: false,
      },
      accounts: [
        {
          id: accountId,
          name: 'An account',
          role: 'owner',
          billing: false,
          nickname: null,
          requires_second_factor: false,
          may: expect.objectContaining({ 'account.change': 'all', 'member.change': 'all' }),
        },
      ],
      newer_release: null,
      // src/hosting/policy/capabilities.test.ts has all of them.
      wordpress_features: expect.arrayContaining(['wordpress_login', 'backup_parts']),
    });
    const partial = await signedIn(homeport, await homeport.person(accountId, 'partial'));
    expect(field((await partial.get('/session')).body, 'accounts', 0, 'may')).toMatchObject({
      'account.change': 'none',
      'member.read': 'own',
      'install.work': 'own',
      'activity.read': 'own',
    });
  });

  rule('accepts the address in any case, and the API accepts the cookie', async () => {
    const person = await personWithPassword();
    const browser = createPortalClient(homeport);
    expect((await browser.signIn(` ${person.email.toUpperCase()} `, PASSWORD)).status).toBe(200);
    expect((await browser.get('/v1/user')).body).toMatchObject({ id: person.userId });
  });

  rule('answers alike for an unknown address, a user without a password and a wrong password', async () => {
    const known = await personWithPassword();
    const without = await homeport.person();
    const browser = createPortalClient(homeport);
    const answers = [];
    for (const [email, password] of [
      [known.email, 'not the password'],
      [known.email, `${PASSWORD} `],
      [without.email, PASSWORD],
      ['nobody@people.example', PASSWORD],
      ["' or 1=1 --", PASSWORD],
    ] as const) {
      answers.push(await browser.signIn(email, password));
    }
    for (const answer of answers) {
      expect(answer).toMatchObject(BAD_CREDENTIALS);
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect(Object.keys(answer.headers)).toEqual(Object.keys(answers[0]?.headers ?? {}));
    }
  });

  rule('takes as much CPU time for unknown users as for wrong passwords', async () => {
    const known = await personWithPassword();
    const browser = createPortalClient(homeport);
    const timed = async (email: string) => {
      const begun = performance.now();
      await browser.signIn(email, 'not the password');
      return performance.now() - begun;
    };
    const [withHash, without]: [number[], number[]] = [[], []];
    // Alternating, so that other load affects both alike.
    for (let tried = 0; tried < 5; tried++) {
      withHash.push(await timed(known.email));
      without.push(await timed('nobody@people.example'));
    }
    // argon2 takes most of the time: without it this would be a small fraction.
    expect(Math.min(...without)).toBeGreaterThan(Math.min(...withHash) / 3);
  });

  rule('reports missing fields', async () => {
    const browser = createPortalClient(homeport);
    expect(await browser.post('/session', { email: 'a@b.example' })).toMatchObject({
      status: 400,
      body: { errors: [{ resource: 'Session', field: 'password', type: 'missing_field' }] },
    });
    expect((await browser.post('/session', { email: 'a', password: 'x'.repeat(2000) })).status).toBe(400);
    expect((await browser.post('/session', { email: 'a\0', password: 'x' })).status).toBe(400);
  });

  it('gives a new token each time, and ends the previous session of the browser', async () => {
    const person = await personWithPassword();
    const browser = createPortalClient(homeport);
    // Session fixation: an attacker planted this cookie.
    browser.cookie = `__Host-homeport-session=${'x'.repeat(43)}`;
    await browser.signIn(person.email, PASSWORD);
    const first = browser.cookie;
    expect(first).not.toContain('xxx');
    await browser.signIn(person.email, PASSWORD);
    expect(browser.cookie).not.toBe(first);
    expect(field((await browser.get('/sessions')).body, 'results')).toHaveLength(1);
    browser.cookie = first;
    expect(await browser.get('/session')).toMatchObject(NOT_SIGNED_IN);
  });

  rule('stores only the hash of the token', async () => {
    const browser = await signedIn(homeport, await homeport.person());
    const token = browser.cookie?.split('=')[1] ?? '';
    const stored = JSON.stringify(
      await homeport.platform.database.reader.selectFrom('sessions').selectAll().execute(),
    );
    expect(stored).not.toContain(token);
    expect(stored).toContain(hashSecret(token));
  });

  rule('is logged in the accounts of the user', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    await signedIn(homeport, owner);
    const [written] = (await activityOf(homeport, accountId)).filter(
      ({ action }) => action === 'session.create',
    );
    expect(written).toMatchObject({ subject_name: owner.email, user_id: owner.userId, means: 'portal' });
  });
});

describe('a session', () => {
  /** Uses the session and stores the time of use. */
  async function use(browser: PortalClient): Promise<number> {
    const status = await statusOf(browser);
    await homeport.services.sessions.flush();
    return status;
  }

  rule('ends twelve hours after its last use', async () => {
    const browser = await signedIn(homeport, await homeport.person());
    clock.advance(11 * HOUR_MS);
    expect(await use(browser)).toBe(200);
    clock.advance(11 * HOUR_MS);
    expect(await use(browser)).toBe(200);
    clock.advance(12 * HOUR_MS + MINUTE_MS);
    expect(await browser.get('/session')).toMatchObject(NOT_SIGNED_IN);
    expect((await browser.get('/v1/user')).status).toBe(401);
  });

  rule('is not extended by background requests of a page', async () => {
    const browser = await signedIn(homeport, await homeport.person());
    const unattended = { headers: { 'x-homeport-unattended': 'true' } };
    for (const hours of [6, 5]) {
      clock.advance(hours * HOUR_MS);
      expect((await browser.call('GET', '/session', unattended)).status).toBe(200);
    }
    clock.advance(HOUR_MS + MINUTE_MS);
    expect((await browser.call('GET', '/session', unattended)).status).toBe(401);
  });

  rule('ends thirty days after its start, even if used', async () => {
    const browser = await signedIn(homeport, await homeport.person());
    for (let half = 0; half < 65; half++) {
      clock.advance(11 * HOUR_MS);
      expect(await use(browser)).toBe(200);
    }
    clock.advance(5 * HOUR_MS - 1);
    expect(await use(browser)).toBe(200);
    clock.advance(1);
    expect(await statusOf(browser)).toBe(401);
  });

  it('shares its last use with other processes once stored', async () => {
    const person = await homeport.person();
    const browser = await signedIn(homeport, person);
    clock.advance(6 * HOUR_MS);
    await browser.get('/session');
    await homeport.services.sessions.flush();
    const row = await homeport.platform.database.reader
      .selectFrom('sessions')
      .select('last_seen_at')
      .where('user_id', '=', person.userId)
      .executeTakeFirstOrThrow();
    const minute = Math.floor(clock.now().getTime() / MINUTE_MS) * MINUTE_MS;
    expect(row.last_seen_at).toBe(new Date(minute).toISOString());
  });

  rule('ends at sign-out, which clears the cookie and is logged', async () => {
    const accountId = await homeport.account();
    const browser = await signedIn(homeport, await homeport.person(accountId));
    const kept = browser.cookie;
    expect(await browser.delete('/session')).toMatchObject({ status: 204 });
    expect(browser.cookie).toBeNull();
    browser.cookie = kept;
    expect(await browser.get('/session')).toMatchObject(NOT_SIGNED_IN);
    browser.cookie = null;
    expect((await browser.delete('/session')).status).toBe(204);
    const written = (await activityOf(homeport, accountId)).map(({ action, details }) => ({
      action,
      details,
    }));
    expect(written.slice(-2)).toEqual([
      { action: 'session.create', details: null },
      { action: 'session.end', details: { signed_out: true } },
    ]);
  });

  rule('is refused for an unknown token', async () => {
    const browser = createPortalClient(homeport);
    for (const token of ['', 'x', 'x'.repeat(43), '%00', "' or 1=1 --", 'é', 'x'.repeat(6000)]) {
      browser.cookie = `__Host-homeport-session=${encodeURIComponent(token)}`;
      expect(await browser.get('/session'), token).toMatchObject(NOT_SIGNED_IN);
      browser.cookie = `__Host-homeport-session=${encodeURIComponent(token)}`;
      expect((await browser.get('/v1/user')).status, token).toBe(401);
    }
  });

  it('ends when its user is deleted', async () => {
    const person = await homeport.person();
    const browser = await signedIn(homeport, person);
    await homeport.platform.database.write(({ queries }) =>
      queries.deleteFrom('users').where('id', '=', person.userId).execute(),
    );
    expect(await statusOf(browser)).toBe(401);
  });
});

describe('the list of sessions', () => {
  it('shows the user’s sessions, latest first, and ends one', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const first = await signedIn(homeport, owner);
    clock.advance(2 * MINUTE_MS);
    await givePassword(homeport, owner);
    const second = createPortalClient(homeport);
    await second.call('POST', '/session', {
      json: { email: owner.email, password: PASSWORD },
      headers: { 'user-agent': `Lynx/${'9'.repeat(1000)}` },
    });
    const listed = await resultsOf(first);
    expect(listed).toMatchObject([
      { current: false, address: '127.0.0.1', user_agent: expect.stringMatching(/^Lynx\/9{395}$/) },
      { current: true, user_agent: null },
    ]);
    const [other] = listed;
    const ends = Date.parse(text(other, 'expires_at')) - Date.parse(text(other, 'last_seen_at'));
    expect(ends).toBe(12 * HOUR_MS);
    expect((await first.delete(`/sessions/${text(other, 'id')}`)).status).toBe(204);
    expect(await statusOf(second)).toBe(401);
    expect(await statusOf(first)).toBe(200);
    expect((await first.delete(`/sessions/${text(other, 'id')}`)).status).toBe(404);
    expect((await first.delete('/sessions/x')).status).toBe(400);
    const actions = (await activityOf(homeport, accountId)).map(({ action }) => action);
    expect(actions.filter((action) => action.startsWith('session'))).toEqual([
      'session.create',
      'session.create',
      'session.end',
    ]);
  });

  it('ends all others at once', async () => {
    const person = await homeport.person();
    const browsers = [];
    for (let times = 0; times < 3; times++) browsers.push(await signedIn(homeport, person));
    const [first, ...others] = browsers;
    if (!first) throw new Error('no session');
    expect((await first.delete('/sessions')).status).toBe(204);
    expect(await statusOf(first)).toBe(200);
    for (const other of others) expect(await statusOf(other)).toBe(401);
    expect(await resultsOf(first)).toHaveLength(1);
  });

  rule('contains no sessions of other users', async () => {
    const mine = await signedIn(homeport, await homeport.person());
    const theirs = await signedIn(homeport, await homeport.person());
    const [session] = await resultsOf(theirs);
    expect((await mine.delete(`/sessions/${text(session, 'id')}`)).status).toBe(404);
    await mine.delete('/sessions');
    expect(await statusOf(theirs)).toBe(200);
  });

  rule('refuses API credentials', async () => {
    const { owner } = await homeport.ownedAccount();
    const authorization = `Basic ${btoa(`${owner.credential.username}:${owner.credential.password}`)}`;
    const browser = createPortalClient(homeport);
    expect(await browser.call('GET', '/sessions', { headers: { authorization } })).toMatchObject(
      NOT_SIGNED_IN,
    );
  });
});

onlyOn('sqlite', describe)('a stolen cookie', () => {
  it.each([
    [
      'a new password',
      (browser: PortalClient) =>
        browser.post('/password', { current_password: PASSWORD, password: 'never seen by any thief' }),
    ],
    ['the second factor', async (browser: PortalClient) => void (await enrol(browser, clock.now()))],
    ['the end of all other sessions', (browser: PortalClient) => browser.delete('/sessions')],
  ])('stops working after %s', async (_, shutOut) => {
    const browser = await signedIn(homeport, await homeport.person());
    const thief = createPortalClient(homeport);
    thief.cookie = browser.cookie;
    expect(await statusOf(thief)).toBe(200);
    const [before] = await resultsOf(browser);
    await shutOut(browser);
    expect([await statusOf(browser), await statusOf(thief)]).toEqual([200, 401]);
    // The session stays, with its former end.
    expect(await resultsOf(browser)).toEqual([before]);
  });
});

describe('an expired session', () => {
  async function expired(person: Person): Promise<PortalClient> {
    const browser = await signedIn(homeport, person);
    await homeport.services.sessions.flush();
    clock.advance(14 * HOUR_MS);
    return browser;
  }

  it('gets another answer than one that was ended', async () => {
    const person = await homeport.person();
    const browser = await expired(person);
    expect(await browser.get('/session')).toMatchObject(EXPIRED);
    expect(await browser.get('/sessions')).toMatchObject(EXPIRED);
    expect((await browser.get('/v1/user')).body).toEqual(NOT_SIGNED_IN.body);
    const other = await signedIn(homeport, person);
    await other.delete('/sessions');
    expect((await browser.get('/session')).body).toEqual(NOT_SIGNED_IN.body);
    const { cookie } = other;
    await other.delete('/session');
    other.cookie = cookie;
    expect((await other.get('/session')).body).toEqual(NOT_SIGNED_IN.body);
  });

  rule('gets that answer only from pages of the portal', async () => {
    const browser = await expired(await homeport.person());
    const elsewhere = { headers: { 'sec-fetch-site': 'same-site' } };
    expect(field((await browser.call('GET', '/session', elsewhere)).body, 'errors')).toBeUndefined();
  });

  it('is neither listed nor counted', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    await expired(owner);
    const browser = await signedIn(homeport, owner);
    expect(await resultsOf(browser)).toHaveLength(1);
    await browser.delete('/sessions');
    const actions = (await activityOf(homeport, accountId)).map(({ action }) => action);
    expect(actions).not.toContain('session.end');
  });

  it('is deleted after seven days', async () => {
    const person = await homeport.person();
    const idle = await expired(person);
    const deleteExpired = async () => {
      await homeport.platform.database.write(({ queries }) =>
        deleteExpiredSessions(queries, timestamp(clock)),
      );
      const sessions = homeport.platform.database.reader.selectFrom('sessions').select('id');
      return (await sessions.where('user_id', '=', person.userId).execute()).length;
    };
    expect(await deleteExpired()).toBe(1);
    clock.advance(7 * DAY_MS);
    const fresh = await signedIn(homeport, person);
    expect(await deleteExpired()).toBe(1);
    expect([await statusOf(idle), await statusOf(fresh)]).toEqual([401, 200]);
  });
});
