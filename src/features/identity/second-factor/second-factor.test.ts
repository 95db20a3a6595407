import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { codeAt, enrol } from '../../../../test/one-time-codes.ts';
import { createPortalClient, PASSWORD, type PortalClient, signedIn } from '../../../../test/portal-client.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';

const STEP_MS = 30_000;

let homeport: TestHomeport;
let clock: ManualClock;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock, roles: { api: true, hosting: false } });
});
// Each test has its own time steps, since a used code blocks earlier ones.
beforeEach(() => clock.advance(10 * STEP_MS));
afterAll(() => homeport.remove());

interface Enrolled {
  person: Person;
  accountId: string;
  browser: PortalClient;
  secret: string;
  recoveryCodes: string[];
  /** The code in the app, some steps from now. */
  code(steps?: number): string;
}

async function enrolled(): Promise<Enrolled> {
  const { accountId, owner: person } = await homeport.ownedAccount();
  const browser = await signedIn(homeport, person);
  const { secret, recoveryCodes } = await enrol(browser, clock.now());
  clock.advance(5 * STEP_MS);
  const code = (steps = 0) => codeAt(secret, new Date(clock.now().getTime() + steps * STEP_MS));
  return { person, accountId, browser, secret, recoveryCodes, code };
}

/** A browser after the password, before the code. */
async function awaiting({ person }: Pick<Enrolled, 'person'>): Promise<PortalClient> {
  const browser = createPortalClient(homeport);
  expect(await browser.signIn(person.email, PASSWORD)).toMatchObject({
    status: 200,
    body: { stage: 'second_factor' },
  });
  return browser;
}

const pass = (browser: PortalClient, code: string) => browser.post('/session/second_factor', { code });
const stageOf = async (browser: PortalClient) => field((await browser.get('/session')).body, 'stage');
const wrongOf = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

const WRONG_CODE = { status: 401, body: { message: 'Wrong code' } };
const REFUSED_CODE = {
  status: 400,
  body: { errors: [{ resource: 'SecondFactor', field: 'code', code: 'wrong' }] },
};

describe('enrolment', () => {
  it('returns a secret for the password, active once a code is confirmed', async () => {
    const { owner } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, owner);
    expect((await browser.get('/second_factor')).body).toEqual({
      enabled: false,
      one_time_codes: false,
      passkeys: 0,
      recovery_codes_left: 0,
      required_by: [],
    });
    expect(await browser.post('/second_factor/enrolment', { password: 'wrong' })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'password', code: 'wrong', message: 'The password is wrong' }] },
    });
    expect((await browser.post('/second_factor', { code: '123456' })).status).toBe(400);
    const begun = await browser.post('/second_factor/enrolment', { password: PASSWORD });
    const secret = text(begun.body, 'secret');
    const uri = new URL(text(begun.body, 'uri'));
    expect(uri.searchParams.get('secret')).toBe(secret);
    expect(uri.searchParams.get('issuer')).toBe('Homeport localhost');
    expect(decodeURIComponent(uri.pathname)).toBe(`/Homeport localhost:${owner.email}`);

    const code = codeAt(secret, clock.now());
    expect(await browser.post('/second_factor', { code: wrongOf(code) })).toMatchObject(REFUSED_CODE);
    const other = createPortalClient(homeport);
    expect((await other.signIn(owner.email, PASSWORD)).body).toEqual({ stage: 'full' });

    const confirmed = await browser.post('/second_factor', { code });
    expect(field(confirmed.body, 'recovery_codes')).toHaveLength(10);
    expect((await browser.get('/second_factor')).body).toEqual({
      enabled: true,
      one_time_codes: true,
      passkeys: 0,
      recovery_codes_left: 10,
      required_by: [],
    });
    expect((await other.get('/session')).status).toBe(401);
    expect(await stageOf(browser)).toBe('full');
    expect((await browser.get('/session')).body).toMatchObject({ user: { mfa_enabled: true } });
  });

  it('shows in the API', async () => {
    const { person, accountId } = await enrolled();
    const member = await person.client.get(`/accounts/${accountId}/account_users/${person.userId}`);
    expect(field(member.body, 'mfa_enabled')).toBe(true);
  });

  it('stores the secret sealed and the codes hashed', async () => {
    const { secret, recoveryCodes } = await enrolled();
    const { reader } = homeport.platform.database;
    const stored = JSON.stringify([
      await reader.selectFrom('second_factors').selectAll().execute(),
      await reader.selectFrom('recovery_codes').selectAll().execute(),
    ]);
    expect(stored).not.toContain(secret);
    for (const code of recoveryCodes) expect(stored).not.toContain(code.replaceAll('-', ''));
  });

  it('is refused if a second factor is on', async () => {
    const { browser, code } = await enrolled();
    expect(await browser.post('/second_factor/enrolment', { password: PASSWORD })).toMatchObject({
      status: 400,
      body: { message: 'One-time codes are already on' },
    });
    expect((await browser.post('/second_factor', { code: code() })).status).toBe(400);
  });

  it('confirms only the latest secret', async () => {
    const browser = await signedIn(homeport, await homeport.person());
    const secrets = [];
    for (let times = 0; times < 2; times++) {
      const begun = await browser.post('/second_factor/enrolment', { password: PASSWORD });
      secrets.push(text(begun.body, 'secret'));
    }
    const [first = '', last = ''] = secrets;
    expect(last).not.toBe(first);
    expect((await browser.post('/second_factor', { code: codeAt(first, clock.now()) })).status).toBe(400);
    expect((await browser.post('/second_factor', { code: codeAt(last, clock.now()) })).status).toBe(200);
  });
});

describe('signing in with a second factor', () => {
  it('asks for a code, and gives no access before', async () => {
    const one = await enrolled();
    const browser = await awaiting(one);
    expect((await browser.get('/session')).body).toMatchObject({ stage: 'second_factor', accounts: [] });
    expect((await browser.get('/v1/user')).status).toBe(401);
    for (const path of ['/sessions', '/second_factor'])
      expect((await browser.get(path)).status, path).toBe(401);
    expect((await browser.patch('/profile', { first_name: 'X' })).status).toBe(401);
    expect((await browser.delete('/sessions')).status).toBe(401);
    const change = { current_password: PASSWORD, password: 'another long password' };
    expect((await browser.post('/password', change)).status).toBe(401);

    const before = browser.cookie;
    const answer = await pass(browser, one.code());
    expect(answer).toMatchObject({ status: 200, body: { stage: 'full' } });
    expect(browser.cookie).not.toBe(before);
    expect((await browser.get('/v1/user')).body).toMatchObject({ id: one.person.userId });
    browser.cookie = before;
    expect((await browser.get('/session')).status).toBe(401);
  });

  it('shows only the email address before the code', async () => {
    const one = await enrolled();
    await one.browser.patch('/profile', { first_name: 'Ada', phone: '+49 30 1234567' });
    const { body } = await (await awaiting(one)).get('/session');
    expect(field(body, 'user')).toEqual({
      id: one.person.userId,
      email: one.person.email,
      first_name: '',
      last_name: '',
      phone: null,
      mfa_enabled: true,
    });
  });

  it('accepts codes only between password and sign-in', async () => {
    const one = await enrolled();
    expect((await pass(one.browser, one.code())).status).toBe(401);
    expect((await pass(createPortalClient(homeport), one.code())).status).toBe(401);
    expect(await stageOf(one.browser)).toBe('full');
  });

  it.each([
    ['of the step before', -1, 200],
    ['of the step after', 1, 200],
    ['two steps old', -2, 401],
    ['two steps too new', 2, 401],
  ])('a code %s: %d', async (_, steps, status) => {
    const one = await enrolled();
    expect((await pass(await awaiting(one), one.code(steps))).status).toBe(status);
  });

  it('refuses used codes and those before them', async () => {
    const one = await enrolled();
    const [before, present] = [one.code(-1), one.code()];
    expect((await pass(await awaiting(one), present)).status).toBe(200);
    expect(await pass(await awaiting(one), present)).toMatchObject(WRONG_CODE);
    expect(await pass(await awaiting(one), before)).toMatchObject(WRONG_CODE);
    expect((await pass(await awaiting(one), one.code(1))).status).toBe(200);
  });

  it('refuses the code of the enrolment', async () => {
    const { owner } = await homeport.ownedAccount();
    const { secret } = await enrol(await signedIn(homeport, owner), clock.now());
    const browser = await awaiting({ person: owner });
    expect(await pass(browser, codeAt(secret, clock.now()))).toMatchObject(WRONG_CODE);
  });

  it('accepts one of several concurrent requests with the same code', async () => {
    const one = await enrolled();
    const browsers = await Promise.all([1, 2, 3, 4].map(() => awaiting(one)));
    const code = one.code();
    const answers = await Promise.all(browsers.map((browser) => pass(browser, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  it('accepts one of several concurrent requests of a session, with different codes', async () => {
    const one = await enrolled();
    const browser = await awaiting(one);
    const { cookie } = browser;
    const codes = [one.code(-1), one.code(), one.recoveryCodes[0] ?? '', one.recoveryCodes[1] ?? ''];
    const answers = await Promise.all(
      codes.map((code) => {
        const same = createPortalClient(homeport);
        same.cookie = cookie;
        return pass(same, code);
      }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('accepts each recovery code once', async () => {
    const one = await enrolled();
    const [code = '', second = ''] = one.recoveryCodes;
    expect((await pass(await awaiting(one), code)).status).toBe(200);
    expect(await pass(await awaiting(one), code)).toMatchObject(WRONG_CODE);
    expect((await pass(await awaiting(one), ` ${second.toUpperCase().replaceAll('-', ' ')}`)).status).toBe(
      200,
    );
    expect((await one.browser.get('/second_factor')).body).toMatchObject({ recovery_codes_left: 8 });
    const browsers = await Promise.all([1, 2, 3].map(() => awaiting(one)));
    const answers = await Promise.all(browsers.map((browser) => pass(browser, one.recoveryCodes[2] ?? '')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  it('refuses the code of another user', async () => {
    const [one, other] = [await enrolled(), await enrolled()];
    const browser = await awaiting(one);
    expect(await pass(browser, other.recoveryCodes[0] ?? '')).toMatchObject(WRONG_CODE);
    if (other.code() !== one.code()) expect(await pass(browser, other.code())).toMatchObject(WRONG_CODE);
  });

  it('ends after five wrong codes', async () => {
    const one = await enrolled();
    const browser = await awaiting(one);
    for (let times = 0; times < 5; times++) {
      expect(await pass(browser, wrongOf(one.code()))).toMatchObject(WRONG_CODE);
    }
    expect((await pass(browser, one.code())).status).toBe(401);
    expect((await browser.get('/session')).status).toBe(401);
    clock.advance(HOUR_MS);
    expect((await pass(await awaiting(one), one.code())).status).toBe(200);
  });

  it('is limited to five one-time codes an hour from one address, over all sessions', async () => {
    clock.advance(HOUR_MS - (clock.now().getTime() % HOUR_MS));
    const one = await enrolled();
    const codes = ['what', 'is this', ...Array.from({ length: 3 }, () => wrongOf(one.code()))];
    for (const half of [codes.slice(0, 3), codes.slice(3)]) {
      const browser = await awaiting(one);
      for (const code of half) expect(await pass(browser, code)).toMatchObject(WRONG_CODE);
    }
    const browser = await awaiting(one);
    expect(await pass(browser, one.code())).toMatchObject({ status: 429 });
    // Recovery codes and open sessions still work.
    expect((await pass(browser, one.recoveryCodes[0] ?? '')).status).toBe(200);
    expect((await one.browser.post('/second_factor/recovery_codes', { code: one.code() })).status).toBe(200);
    clock.advance(HOUR_MS);
    expect((await pass(await awaiting(one), one.code())).status).toBe(200);
  });

  it('is limited to ten codes an hour for changes, apart from sign-ins', async () => {
    clock.advance(HOUR_MS - (clock.now().getTime() % HOUR_MS));
    const one = await enrolled();
    const remove = (code: string) => one.browser.post('/second_factor/removal', { code });
    for (let times = 0; times < 10; times++) expect(await remove('wrong')).toMatchObject(REFUSED_CODE);
    expect((await remove(one.code())).status).toBe(429);
    expect((await remove(one.recoveryCodes[0] ?? '')).status).toBe(429);
    expect((await pass(await awaiting(one), one.code())).status).toBe(200);
  });

  it('waits ten minutes for the code', async () => {
    const one = await enrolled();
    const [early, late] = [await awaiting(one), await awaiting(one)];
    clock.advance(10 * MINUTE_MS - 1);
    expect((await pass(early, one.code())).status).toBe(200);
    clock.advance(1);
    expect((await pass(late, one.code())).status).toBe(401);
    expect((await late.get('/session')).status).toBe(401);
  });

  it('is logged after the code', async () => {
    const one = await enrolled();
    await awaiting(one);
    await pass(await awaiting(one), one.code());
    await pass(await awaiting(one), one.recoveryCodes[0] ?? '');
    const written = (await activityOf(homeport, one.accountId)).filter(({ action }) =>
      /^(session|second_factor)/.test(action),
    );
    expect(written.map(({ action, details }) => [action, details])).toEqual([
      ['session.create', null],
      ['second_factor.enable', null],
      ['session.create', { second_factor: 'one_time_code' }],
      ['session.create', { second_factor: 'recovery_code' }],
    ]);
  });
});

describe('an account that requires it', () => {
  const demand = (accountId: string, requires_second_factor = true) =>
    homeport.platform.database.write(({ queries }) =>
      queries.updateTable('accounts').set({ requires_second_factor }).where('id', '=', accountId).execute(),
    );

  it('makes its users enrol at once; their API credentials keep working', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, owner);
    await demand(accountId);
    expect((await browser.get('/session')).body).toMatchObject({ stage: 'enrolment', accounts: [] });
    expect((await browser.get('/v1/user')).status).toBe(401);
    expect((await browser.get('/sessions')).status).toBe(401);
    expect((await owner.client.get('/user')).status).toBe(200);
    expect((await browser.get('/second_factor')).body).toMatchObject({ required_by: ['An account'] });

    const again = createPortalClient(homeport);
    expect((await again.signIn(owner.email, PASSWORD)).body).toEqual({ stage: 'enrolment' });
    await enrol(again, clock.now());
    expect((await again.get('/session')).body).toMatchObject({
      stage: 'full',
      accounts: [{ id: accountId }],
    });
    expect((await again.get('/v1/user')).status).toBe(200);
  });

  it('keeps them from switching it off', async () => {
    const { browser, accountId, code } = await enrolled();
    await demand(accountId);
    expect(await browser.post('/second_factor/removal', { code: code() })).toMatchObject({
      status: 400,
      body: { message: 'An account requires a second factor of all its users' },
    });
    await demand(accountId, false);
    // The refused request has not used up the code.
    expect((await browser.post('/second_factor/removal', { code: code() })).status).toBe(204);
  });
});

describe('switching it off', () => {
  it('needs an unused code', async () => {
    const { browser, code, person, accountId } = await enrolled();
    const right = code();
    expect(await browser.post('/second_factor/removal', { code: wrongOf(right) })).toMatchObject(
      REFUSED_CODE,
    );
    expect((await browser.post('/second_factor/recovery_codes', { code: right })).status).toBe(200);
    expect(await browser.post('/second_factor/removal', { code: right })).toMatchObject(REFUSED_CODE);
    expect((await browser.post('/second_factor/removal', { code: code(1) })).status).toBe(204);
    expect((await browser.get('/second_factor')).body).toMatchObject({
      enabled: false,
      one_time_codes: false,
      passkeys: 0,
      recovery_codes_left: 0,
    });
    expect((await browser.get('/session')).body).toMatchObject({ user: { mfa_enabled: false } });
    expect((await createPortalClient(homeport).signIn(person.email, PASSWORD)).body).toEqual({
      stage: 'full',
    });
    const actions = (await activityOf(homeport, accountId)).map(({ action }) => action);
    expect(actions).toContain('second_factor.disable');
  });

  it('accepts a recovery code', async () => {
    const { browser, recoveryCodes } = await enrolled();
    const [code = ''] = recoveryCodes;
    expect((await browser.post('/second_factor/removal', { code })).status).toBe(204);
  });
});

it('new recovery codes replace the old ones', async () => {
  const one = await enrolled();
  const renewed = await one.browser.post('/second_factor/recovery_codes', { code: one.code() });
  expect(await pass(await awaiting(one), one.recoveryCodes[0] ?? '')).toMatchObject(WRONG_CODE);
  const fresh = text(renewed.body, 'recovery_codes', 0);
  expect((await pass(await awaiting(one), fresh)).status).toBe(200);
});

it('a reset by the operator ends sessions, and the password alone signs in', async () => {
  const one = await enrolled();
  const pending = await awaiting(one);
  expect(await homeport.services.secondFactor.reset(one.person.userId)).toMatchObject({ hadFactor: true });
  expect((await one.browser.get('/session')).status).toBe(401);
  expect((await pending.get('/session')).status).toBe(401);
  const browser = createPortalClient(homeport);
  expect((await browser.signIn(one.person.email, PASSWORD)).body).toEqual({ stage: 'full' });
  expect((await browser.get('/second_factor')).body).toMatchObject({ enabled: false });
  expect(await homeport.services.secondFactor.reset(one.person.userId)).toMatchObject({ hadFactor: false });
  const written = await activityOf(homeport, one.accountId);
  expect(written).toContainEqual(
    expect.objectContaining({ action: 'second_factor.disable', means: 'command_line', user_id: null }),
  );
});
