import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { createPortalClient, PASSWORD, type PortalClient, signedIn } from '../../../../test/portal-client.ts';
import { refusal } from '../../../../test/refusal.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';

const NEW = 'a new password of mine';

let homeport: TestHomeport;
let clock: ManualClock;
let anybody: PortalClient;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
  anybody = createPortalClient(homeport);
});
afterAll(() => homeport.remove());

const tokenOf = (link: string) => link.slice(link.lastIndexOf('/') + 1);
const set = (token: string, password = NEW) => anybody.post(`/password_links/${token}`, { password });
const ask = (email: string) => anybody.post('/password_resets', { email });

async function signsIn({ email }: Person, password: string): Promise<boolean> {
  return (await createPortalClient(homeport).signIn(email, password)).status === 200;
}

/** The tokens in the mails to an address. */
async function mailedTo(email: string): Promise<string[]> {
  await homeport.idle();
  return mailsTo(homeport, email).map(({ text }) => tokenOf(/https:\S+/.exec(text)?.[0] ?? ''));
}

/** Requests a reset mail, and returns its token. */
async function asked(person: Person): Promise<string> {
  const before = await mailedTo(person.email);
  expect((await ask(person.email)).status).toBe(202);
  const token = (await mailedTo(person.email)).find((one) => !before.includes(one));
  if (token === undefined) throw new Error(`no mail went to ${person.email}`);
  return token;
}

const EASY =
  'This password is easy to guess. Combine four or more words that are unrelated to each other and to you';
const GONE = { status: 404, body: { message: 'Resource not found' } };

describe('a forgotten password', () => {
  it('is reset with the link in a mail', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, owner);
    await ask(owner.email);
    await homeport.idle();
    const [mail] = mailsTo(homeport, owner.email);
    const token = tokenOf(/https:\S+/.exec(mail?.text ?? '')?.[0] ?? '');
    expect(mail).toMatchObject({
      subject: 'Set a new password',
      text: [
        'Hello Test,',
        '',
        'Someone, most likely you, asked to set a new password for Homeport.',
        'To choose one, open',
        '',
        `  ${homeport.origin}/password/${token}`,
        '',
        'The link works once, for one hour. Links in earlier mails no longer work.',
        'You can also revoke your API credentials there. Your SSH keys stay.',
        'Check both if you suspect that someone else has access.',
        'If it was not you, ignore this mail. Your password stays as it is.',
        '',
      ].join('\n'),
    });
    expect((await anybody.get(`/password_links/${token}`)).body).toEqual({
      email: owner.email,
      first_name: 'Test',
      purpose: 'reset',
      api_credentials: 1,
    });
    expect(await set(token)).toMatchObject({ status: 204, body: undefined });
    expect([await signsIn(owner, NEW), await signsIn(owner, PASSWORD)]).toEqual([true, false]);
    expect((await browser.get('/session')).status).toBe(401);
    expect(await activityOf(homeport, accountId)).toContainEqual(
      expect.objectContaining({ action: 'password.set', subject_name: owner.email, means: 'portal' }),
    );
  });

  it('gets the same answer for unknown addresses, which get no mail', async () => {
    const person = await homeport.person();
    const [known, unknown] = [await ask(person.email.toUpperCase()), await ask('nobody@people.example')];
    expect(unknown.status).toBe(202);
    expect({ status: unknown.status, body: unknown.body }).toEqual({
      status: known.status,
      body: known.body,
    });
    expect(Object.keys(unknown.headers)).toEqual(Object.keys(known.headers));
    expect(await mailedTo(person.email)).toHaveLength(1);
    expect(mailsTo(homeport, 'nobody@people.example')).toEqual([]);
    expect((await ask('no address')).status).toBe(400);
  });

  it('can be requested five times an hour, also for unknown addresses', async () => {
    const person = await homeport.person();
    for (const email of [person.email, `${crypto.randomUUID()}@people.example`]) {
      const statuses = [];
      for (let times = 0; times < 6; times++) statuses.push((await ask(email)).status);
      expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
    }
    clock.advance(HOUR_MS);
    expect((await ask(person.email)).status).toBe(202);
  });

  it('is not reset with a link to an address that is just being changed', async () => {
    const person = await homeport.person();
    const { passwords, profile } = homeport.services;
    const [, made] = await Promise.all([
      profile.changeByOperator(person.userId, { email: `${crypto.randomUUID()}@people.example` }),
      passwords.createResetLink(person.email),
    ]);
    if (made) expect(await anybody.get(`/password_links/${tokenOf(made.link)}`)).toMatchObject(GONE);
  });

  it('leaves the second factor as it is', async () => {
    const { enrol } = await import('../../../../test/one-time-codes.ts');
    const person = await homeport.person();
    await enrol(await signedIn(homeport, person), clock.now());
    await set(await asked(person));
    const browser = createPortalClient(homeport);
    expect((await browser.signIn(person.email, NEW)).body).toEqual({ stage: 'second_factor' });
  });
});

describe('a link', () => {
  it('works once', async () => {
    const person = await homeport.person();
    const token = await asked(person);
    expect((await set(token)).status).toBe(204);
    expect(await set(token, 'yet another password')).toMatchObject(GONE);
    expect(await anybody.get(`/password_links/${token}`)).toMatchObject(GONE);
    expect(await signsIn(person, NEW)).toBe(true);
  });

  it('works for one of several concurrent requests', async () => {
    const person = await homeport.person();
    const token = await asked(person);
    const passwords = ['the first password', 'the second password', 'the third password'];
    const answers = await Promise.all(passwords.map((password) => set(token, password)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    expect(await signsIn(person, passwords[answers.findIndex(({ status }) => status === 204)] ?? '')).toBe(
      true,
    );
  });

  it('works until it is replaced', async () => {
    const person = await homeport.person();
    const [first, second] = [await asked(person), await asked(person)];
    expect(await set(first)).toMatchObject(GONE);
    expect((await set(second)).status).toBe(204);
  });

  it('from the operator survives a reset mail until one of them is used', async () => {
    const { createLink } = homeport.services.passwords;
    const person = await homeport.person();
    const earlier = tokenOf(await createLink(person.userId, 'first'));
    const printed = tokenOf(await createLink(person.userId, 'first'));
    const mailed = await asked(person);
    expect(await anybody.get(`/password_links/${earlier}`)).toMatchObject(GONE);
    expect((await anybody.get(`/password_links/${mailed}`)).body).toMatchObject({ purpose: 'reset' });
    expect((await set(printed)).status).toBe(204);
    expect(await set(mailed)).toMatchObject(GONE);
  });

  it('works for an hour if mailed, and for seven days from the operator', async () => {
    const { createLink } = homeport.services.passwords;
    for (const [purpose, lifetime] of [
      ['reset', HOUR_MS],
      ['first', 7 * DAY_MS],
    ] as const) {
      const [early, late] = [await homeport.person(), await homeport.person()];
      const earlyToken = tokenOf(await createLink(early.userId, purpose));
      const lateToken = tokenOf(await createLink(late.userId, purpose));
      expect((await anybody.get(`/password_links/${lateToken}`)).body).toMatchObject({ purpose });
      clock.advance(lifetime - 1);
      expect((await set(earlyToken)).status).toBe(204);
      clock.advance(1);
      expect(await anybody.get(`/password_links/${lateToken}`)).toMatchObject(GONE);
      expect(await set(lateToken)).toMatchObject(GONE);
    }
  });

  it('ends sessions that start with the old password at the same time', async () => {
    for (let times = 0; times < 5; times++) {
      const person = await homeport.person();
      const browser = await signedIn(homeport, person);
      const token = tokenOf(await homeport.services.passwords.createLink(person.userId, 'reset'));
      const [, answer] = await Promise.all([browser.signIn(person.email, PASSWORD), set(token)]);
      expect(answer.status).toBe(204);
      expect((await browser.get('/session')).status).toBe(401);
    }
  });

  it('stops working after a password change', async () => {
    const person = await homeport.person();
    const browser = await signedIn(homeport, person);
    const token = await asked(person);
    const change = { current_password: PASSWORD, password: 'changed in the meantime' };
    expect((await browser.post('/password', change)).status).toBe(204);
    expect(await set(token)).toMatchObject(GONE);
  });

  it.each([
    ['short', 'elevenchars', 'The password must have at least 12 characters', 'too_short'],
    ['long', 'x'.repeat(257), 'The password must have at most 256 characters', 'too_long'],
  ])('survives a password that is too %s', async (_, password, message, code) => {
    const person = await homeport.person();
    const token = await asked(person);
    expect(await set(token, password)).toMatchObject({
      status: 400,
      body: { errors: [{ resource: 'Password', field: 'password', message, code }] },
    });
    expect((await set(token)).status).toBe(204);
  });

  it('refuses easily guessed passwords, as a change does', async () => {
    const person = await homeport.person();
    const browser = await signedIn(homeport, person);
    const token = await asked(person);
    for (const [password, code, message] of [
      ['aaaaaaaaaaaa', 'too_simple', 'The password must contain at least 4 different characters'],
      [person.email.toUpperCase(), 'like_email', 'The password must not consist of your email address'],
      [`${person.userId}1234`, 'like_email', 'The password must not consist of your email address'],
      ['Homeport2026!', 'easily_guessed', EASY],
    ] as const) {
      const refused = refusal('Password.password', `invalid_value / ${code}`, message);
      expect(await set(token, password)).toMatchObject(refused);
      const change = { current_password: PASSWORD, password };
      expect(await browser.post('/password', change)).toMatchObject(refused);
    }
    expect(await signsIn(person, PASSWORD)).toBe(true);
    expect((await set(token)).status).toBe(204);
  });

  it('is refused if made up', async () => {
    for (const token of ['x', '%00', '%27', 'x'.repeat(3000)]) {
      expect(await anybody.get(`/password_links/${token}`), token).toMatchObject(GONE);
      expect(await set(token), token).toMatchObject(GONE);
    }
  });

  it('appears only in the mail', async () => {
    const person = await homeport.person();
    const token = await asked(person);
    const { reader } = homeport.platform.database;
    const stored = JSON.stringify([
      await reader.selectFrom('password_links').selectAll().execute(),
      await reader.selectFrom('jobs').selectAll().execute(),
    ]);
    expect(stored).toContain('send_password_reset');
    expect(stored).not.toContain(token);
  });
});

describe('API access', () => {
  it('is offered for revocation to users who already have a password', async () => {
    const person = await homeport.person();
    const { createLink } = homeport.services.passwords;
    const purposeNow = async () => {
      const token = tokenOf(await createLink(person.userId, 'first'));
      const { body } = await anybody.get(`/password_links/${token}`);
      return { token, body };
    };
    const first = await purposeNow();
    expect(first.body).toMatchObject({ purpose: 'first' });
    expect((await set(first.token)).status).toBe(204);
    expect((await purposeNow()).body).toMatchObject({ purpose: 'reset', api_credentials: 1 });
  });

  it('is kept or revoked at a reset, as chosen', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { issue } = homeport.services.credentials;
    const second = await issue(owner.userId, { name: 'second' });
    await issue(owner.userId, { name: 'expired', expiresAt: new Date(clock.now().getTime() - 1) });
    const colleague = await homeport.person(accountId);
    const { createLink } = homeport.services.passwords;
    expect((await set(tokenOf(await createLink(owner.userId, 'reset')))).status).toBe(204);
    expect((await owner.client.get('/user')).status).toBe(200);
    const token = tokenOf(await createLink(owner.userId, 'reset'));
    expect((await anybody.get(`/password_links/${token}`)).body).toMatchObject({ api_credentials: 2 });
    const answer = await anybody.post(`/password_links/${token}`, { password: NEW, end_api_access: true });
    expect(answer.status).toBe(204);
    for (const client of [owner.client, homeport.clientOf(second)]) {
      expect((await client.get('/user')).status).toBe(401);
    }
    expect((await colleague.client.get('/user')).status).toBe(200);
    const revoked = (await activityOf(homeport, accountId)).filter(
      ({ action }) => action === 'credential.revoke',
    );
    expect(revoked.map(({ subject_name }) => subject_name).sort()).toEqual(['second', 'test']);
    for (const entry of revoked) expect(entry).toMatchObject({ user_id: owner.userId, means: 'portal' });
  });

  it('is kept if the password is refused', async () => {
    const person = await homeport.person();
    const token = tokenOf(await homeport.services.passwords.createLink(person.userId, 'reset'));
    const body = { password: 'password1234', end_api_access: true };
    expect((await anybody.post(`/password_links/${token}`, body)).status).toBe(400);
    expect((await person.client.get('/user')).status).toBe(200);
  });
});

describe('changing the password', () => {
  it('needs the current one, and ends all other sessions', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const [browser, other] = [await signedIn(homeport, owner), await signedIn(homeport, owner)];
    expect(await browser.post('/password', { current_password: 'wrong', password: NEW })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'current_password', code: 'wrong' }] },
    });
    expect(await browser.post('/password', { current_password: PASSWORD, password: 'short' })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'password', code: 'too_short' }] },
    });
    expect(await signsIn(owner, PASSWORD)).toBe(true);
    expect((await browser.post('/password', { current_password: PASSWORD, password: NEW })).status).toBe(204);
    expect((await browser.get('/session')).status).toBe(200);
    expect((await other.get('/session')).status).toBe(401);
    expect([await signsIn(owner, NEW), await signsIn(owner, PASSWORD)]).toEqual([true, false]);
    const actions = (await activityOf(homeport, accountId)).map(({ action }) => action);
    expect(actions.filter((action) => action.startsWith('password'))).toEqual(['password.change']);
  });

  it('succeeds for one of two concurrent requests', async () => {
    const person = await homeport.person();
    const browser = await signedIn(homeport, person);
    const passwords = ['the first password', 'the second password'];
    const answers = await Promise.all(
      passwords.map((password) => browser.post('/password', { current_password: PASSWORD, password })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400]);
    expect(await signsIn(person, passwords[answers.findIndex(({ status }) => status === 204)] ?? '')).toBe(
      true,
    );
  });

  it('needs a session', async () => {
    expect((await anybody.post('/password', { current_password: PASSWORD, password: NEW })).status).toBe(401);
  });
});
