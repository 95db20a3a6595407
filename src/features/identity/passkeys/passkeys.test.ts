import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { codeAt, enrol } from '../../../../test/one-time-codes.ts';
import { createPortalClient, PASSWORD, type PortalClient, signedIn } from '../../../../test/portal-client.ts';
import { type Quirks, type SoftwarePasskey, softwarePasskey } from '../../../../test/software-passkey.ts';
import { MINUTE_MS, SECOND_MS } from '../../../lib/durations.ts';
import { deleteExpiredChallenges } from '../webauthn/store.ts';
import { MAX_PASSKEYS } from './service.ts';

let homeport: TestHomeport;
let clock: ManualClock;
beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
});
// The limit of passkeys by address counts all tests of a minute.
beforeEach(() => clock.advance(10 * MINUTE_MS));
afterAll(() => homeport.remove());

interface Holder {
  person: Person;
  accountId: string;
  browser: PortalClient;
  passkey: SoftwarePasskey;
  recoveryCodes: string[];
}

/** Adds a passkey and expects it to be accepted. */
async function add(
  browser: PortalClient,
  identity: object,
  passkey = softwarePasskey(homeport),
): Promise<{ passkey: SoftwarePasskey; body: unknown }> {
  const options = await browser.post('/passkeys/options', identity);
  expect(options.status).toBe(200);
  const added = await browser.post('/passkeys', { credential: passkey.create(options.body) });
  expect(added.status).toBe(201);
  return { passkey, body: added.body };
}

/** A user with one passkey and no one-time codes. */
async function holder(): Promise<Holder> {
  const { accountId, owner: person } = await homeport.ownedAccount();
  const browser = await signedIn(homeport, person);
  const { passkey, body } = await add(browser, { password: PASSWORD });
  const recoveryCodes = Array.from({ length: 10 }, (_, index) => text(body, 'recovery_codes', index));
  return { person, accountId, browser, passkey, recoveryCodes };
}

/** Signs in with a passkey alone. */
async function signInWith(passkey: SoftwarePasskey, quirks?: Quirks, browser = createPortalClient(homeport)) {
  const options = await browser.post('/session/passkey/options');
  return browser.post('/session/passkey', { passkey: passkey.answer(options.body, quirks) });
}

/** A proof with the passkey for a change by a signed-in user. */
async function proofOf({ browser, passkey }: Pick<Holder, 'browser' | 'passkey'>) {
  const options = await browser.post('/passkeys/confirmation_options');
  return { passkey: passkey.answer(options.body) };
}

/** A browser after the password. */
async function afterPassword(person: Person): Promise<PortalClient> {
  const browser = createPortalClient(homeport);
  expect((await browser.signIn(person.email, PASSWORD)).body).toEqual({ stage: 'second_factor' });
  return browser;
}

async function subjects({ email }: Person): Promise<string[]> {
  await homeport.idle();
  return mailsTo(homeport, email)
    .map(({ subject }) => subject)
    .sort();
}

const SIGNED_IN = { status: 200, body: { stage: 'full' } };
const REFUSED = { status: 401, body: { message: 'Bad Credentials' } };
const NOT_ADDED = { status: 400, body: { errors: [{ field: 'credential', code: 'refused' }] } };
const WRONG_PROOF = { status: 400, body: { errors: [{ field: 'passkey', code: 'wrong' }] } };

describe('the first passkey', () => {
  it('is a second factor: it comes with recovery codes and ends other sessions', async () => {
    const { accountId, owner: person } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, person);
    const other = createPortalClient(homeport);
    await other.signIn(person.email, PASSWORD);
    for (const identity of [{}, { password: 'wrong' }, { code: '123456' }]) {
      expect((await browser.post('/passkeys/options', identity)).status).toBe(400);
    }
    const options = await browser.post('/passkeys/options', { password: PASSWORD });
    expect(options.body).toMatchObject({
      rp: { id: 'localhost' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [],
    });
    const bitwarden = Buffer.from('d548826e79b4db40a3d811116f7e8349', 'hex');
    const passkey = softwarePasskey(homeport, bitwarden);
    const created = { credential: passkey.create(options.body), name: 'Chrome on Linux' };
    const { body } = await browser.post('/passkeys', created);
    expect(field(body, 'recovery_codes')).toHaveLength(10);
    expect(body).toMatchObject({ passkey: { name: 'Bitwarden', last_used_at: null } });
    expect((await other.get('/session')).status).toBe(401);
    expect((await browser.get('/session')).body).toMatchObject({
      stage: 'full',
      user: { mfa_enabled: true },
    });
    expect((await browser.get('/second_factor')).body).toEqual({
      enabled: true,
      one_time_codes: false,
      passkeys: 1,
      recovery_codes_left: 10,
      required_by: [],
    });
    const { passkey: key } = await proofOf({ browser, passkey });
    expect((await browser.post('/second_factor/recovery_codes', { passkey: key })).status).toBe(200);
    expect(await subjects(person)).toEqual(['A passkey was added', 'Your recovery codes were replaced']);
    expect(await activityOf(homeport, accountId)).toContainEqual(
      expect.objectContaining({
        action: 'passkey.create',
        details: { of: person.email, first_factor: true },
      }),
    );
  });

  it('is enough for an account that requires a second factor, and must stay', async () => {
    const { accountId, owner: person } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, person);
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('accounts')
        .set({ requires_second_factor: true })
        .where('id', '=', accountId)
        .execute(),
    );
    expect((await browser.get('/session')).body).toMatchObject({ stage: 'enrolment' });
    const { passkey, body } = await add(browser, { password: PASSWORD });
    expect((await browser.get('/session')).body).toMatchObject({ stage: 'full' });
    const removal = `/passkeys/${text(body, 'passkey', 'id')}/removal`;
    expect(await browser.post(removal, await proofOf({ browser, passkey }))).toMatchObject({
      status: 400,
      body: { message: 'An account requires a second factor of all its users' },
    });
    expect(await signInWith(passkey)).toMatchObject(SIGNED_IN);
  });
});

describe('adding a passkey', () => {
  it('takes the second factor of a user who has one, not the password', async () => {
    const { person, browser, passkey, recoveryCodes } = await holder();
    expect((await browser.post('/passkeys/options', { password: PASSWORD })).status).toBe(400);
    expect((await browser.post('/second_factor/enrolment', { password: PASSWORD })).status).toBe(400);
    const options = await browser.post('/passkeys/options', await proofOf({ browser, passkey }));
    expect(options.body).toMatchObject({
      excludeCredentials: [{ id: passkey.id, transports: ['internal', 'hybrid'] }],
    });
    const { passkey: other, body } = await add(browser, { code: recoveryCodes[0] });
    expect(field(body, 'recovery_codes')).toEqual([]);
    expect(await signInWith(other)).toMatchObject(SIGNED_IN);
    expect(await subjects(person)).toEqual(['A passkey was added', 'A passkey was added']);
  });

  it.each<[string, Quirks]>([
    ['made on another origin', { origin: 'https://localhost' }],
    ['made for another host name', { rpId: 'evil.example' }],
    ['made without user verification', { verified: false }],
    ['made as an answer to request options', { type: 'webauthn.get' }],
    ['made in a frame', { crossOrigin: true }],
    [
      'attested with a certificate, which could name any address to fetch',
      {
        attestation: {
          fmt: 'packed',
          attStmt: new Map<string, number | Uint8Array | Uint8Array[]>([
            ['alg', -7],
            ['sig', new Uint8Array(70)],
            ['x5c', [new Uint8Array(10)]],
          ]),
        },
      },
    ],
    ['of an unknown format', { attestation: { fmt: 'tpm', attStmt: new Map() } }],
    ['with an invented challenge', { challenge: Buffer.alloc(56).toString('base64url') }],
  ])('refuses one %s', async (_, quirks) => {
    const { owner } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, owner);
    const options = await browser.post('/passkeys/options', { password: PASSWORD });
    const credential = softwarePasskey(homeport).create(options.body, quirks);
    expect(await browser.post('/passkeys', { credential })).toMatchObject(NOT_ADDED);
    expect((await browser.get('/passkeys')).body).toEqual({ available: true, results: [] });
  });

  it('refuses a challenge that was used, has expired or belongs to another session', async () => {
    const { person, browser, passkey } = await holder();
    const start = async () =>
      (await browser.post('/passkeys/options', await proofOf({ browser, passkey }))).body;
    const post = (by: PortalClient, options: unknown) =>
      by.post('/passkeys', { credential: softwarePasskey(homeport).create(options) });
    const used = await start();
    expect((await post(browser, used)).status).toBe(201);
    expect(await post(browser, used)).toMatchObject(NOT_ADDED);
    const foreign = await start();
    const other = createPortalClient(homeport);
    expect(await signInWith(passkey, {}, other)).toMatchObject(SIGNED_IN);
    expect(await post(other, foreign)).toMatchObject(NOT_ADDED);
    const expired = await start();
    clock.advance(5 * MINUTE_MS);
    expect(await post(browser, expired)).toMatchObject(NOT_ADDED);
    expect((await subjects(person)).filter((subject) => subject.includes('added'))).toHaveLength(2);
  });

  it('refuses the passkey of another user, and the 21st', async () => {
    const { passkey } = await holder();
    const { person, browser, passkey: own } = await holder();
    const options = await browser.post('/passkeys/options', await proofOf({ browser, passkey: own }));
    const answer = await browser.post('/passkeys', { credential: passkey.create(options.body) });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ code: 'taken' }] } });
    const spare = await browser.post('/passkeys/options', await proofOf({ browser, passkey: own }));
    const { database } = homeport.platform;
    const row = await database.reader
      .selectFrom('passkeys')
      .selectAll()
      .where('user_id', '=', person.userId)
      .executeTakeFirstOrThrow();
    const { seq: _, ...copied } = row;
    await database.write(({ queries }) =>
      queries
        .insertInto('passkeys')
        .values(
          Array.from({ length: MAX_PASSKEYS - 1 }, () => ({
            ...copied,
            id: crypto.randomUUID(),
            credential_id: crypto.randomUUID(),
          })),
        )
        .execute(),
    );
    const TOO_MANY = { status: 400, body: { message: expect.stringContaining('limit of 20 passkeys') } };
    expect(await browser.post('/passkeys/options', {})).toMatchObject(TOO_MANY);
    const credential = softwarePasskey(homeport).create(spare.body);
    expect(await browser.post('/passkeys', { credential })).toMatchObject(TOO_MANY);
  });
});

describe('signing in with a passkey alone', () => {
  it('needs neither the email address nor the password', async () => {
    const { person, accountId, passkey } = await holder();
    const browser = createPortalClient(homeport);
    const options = await browser.post('/session/passkey/options');
    // Nothing tells which users or passkeys exist.
    expect(options.body).toMatchObject({ allowCredentials: [], userVerification: 'required' });
    const cookie = String(options.headers['set-cookie']);
    expect(cookie).toMatch(/^__Host-homeport-passkey=[\w-]{43};.*; HttpOnly; Secure; SameSite=Strict$/);
    const answer = passkey.answer(options.body);
    expect(await browser.post('/session/passkey', { passkey: answer })).toMatchObject(SIGNED_IN);
    expect((await browser.get('/passkeys')).body).toMatchObject({
      results: [{ name: 'Passkey', last_used_at: expect.any(String) }],
    });
    const last = (await activityOf(homeport, accountId)).at(-1);
    expect(last).toMatchObject({
      action: 'session.create',
      user_id: person.userId,
      details: { passkey: true },
    });
    // The same signature signs in only once.
    expect(await browser.post('/session/passkey', { passkey: answer })).toMatchObject(REFUSED);
  });

  it.each<[string, Quirks]>([
    ['on another origin', { origin: 'https://localhost' }],
    ['for another host name', { rpId: 'evil.example' }],
    ['without user verification', { verified: false }],
    ['with a signature of other data', { forged: true }],
    ['with the answer of a registration', { type: 'webauthn.create' }],
    ['in a frame', { crossOrigin: true }],
    ['with a handle of no user', { userHandle: 'AAAA' }],
    ['with an invented challenge', { challenge: Buffer.alloc(56).toString('base64url') }],
    ['with a challenge that is too short', { challenge: 'AAAA' }],
  ])('is refused %s', async (_, quirks) => {
    const { passkey } = await holder();
    expect(await signInWith(passkey, quirks)).toMatchObject(REFUSED);
    expect(await signInWith(passkey)).toMatchObject(SIGNED_IN);
  });

  it('is refused with the handle of another user, and with an unknown passkey', async () => {
    const [{ passkey }, { person: other }] = [await holder(), await holder()];
    const userHandle = Buffer.from(other.userId).toString('base64url');
    expect(await signInWith(passkey, { userHandle })).toMatchObject(REFUSED);
    expect(await signInWith(softwarePasskey(homeport), { userHandle })).toMatchObject(REFUSED);
  });

  it('is refused in another browser, after five minutes, and with a challenge for something else', async () => {
    const { person, browser: signed, passkey } = await holder();
    const [browser, thief] = [createPortalClient(homeport), createPortalClient(homeport)];
    const { body } = await browser.post('/session/passkey/options');
    const answer = { passkey: passkey.answer(body) };
    expect(await thief.post('/session/passkey', answer)).toMatchObject(REFUSED);
    await thief.post('/session/passkey/options');
    expect(await thief.post('/session/passkey', answer)).toMatchObject(REFUSED);
    // A second window keeps the cookie, so the first one still works.
    await browser.post('/session/passkey/options');
    clock.advance(5 * MINUTE_MS - SECOND_MS);
    expect(await browser.post('/session/passkey', answer)).toMatchObject(SIGNED_IN);

    const late = await browser.post('/session/passkey/options');
    clock.advance(5 * MINUTE_MS);
    expect(await browser.post('/session/passkey', { passkey: passkey.answer(late.body) })).toMatchObject(
      REFUSED,
    );

    const confirming = await proofOf({ browser: signed, passkey });
    expect(await signed.post('/session/passkey', confirming)).toMatchObject(REFUSED);
    const awaiting = await afterPassword(person);
    const second = await awaiting.post('/session/second_factor/options');
    const forSecond = { passkey: passkey.answer(second.body) };
    expect(await awaiting.post('/session/passkey', forSecond)).toMatchObject(REFUSED);
    expect(await awaiting.post('/session/second_factor', forSecond)).toMatchObject(SIGNED_IN);
  });

  it('signs in once with concurrent copies of one answer', async () => {
    const { passkey } = await holder();
    const browser = createPortalClient(homeport);
    const { body } = await browser.post('/session/passkey/options');
    const answer = { passkey: passkey.answer(body) };
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => browser.post('/session/passkey', answer)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  it('is refused if the counter did not grow, and notifies the user', async () => {
    const { person, accountId, passkey } = await holder();
    expect(await signInWith(passkey, { counter: 7 })).toMatchObject(SIGNED_IN);
    for (const counter of [7, 6, 0]) expect(await signInWith(passkey, { counter })).toMatchObject(REFUSED);
    // Without a right signature, the counter is only a number that someone typed.
    expect(await signInWith(passkey, { counter: 1, forged: true })).toMatchObject(REFUSED);
    expect(await signInWith(passkey, { counter: 8 })).toMatchObject(SIGNED_IN);
    const refusals = (await activityOf(homeport, accountId)).filter(
      ({ action }) => action === 'passkey.refuse',
    );
    expect(refusals).toHaveLength(3);
    expect((await subjects(person)).filter((subject) => subject === 'A passkey was refused')).toHaveLength(3);
  });

  it('is limited to 30 wrong attempts a minute from one address', async () => {
    clock.advance(MINUTE_MS - (clock.now().getTime() % MINUTE_MS));
    const { passkey } = await holder();
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => signInWith(passkey, { userHandle: 'AAAA' })),
    );
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
    expect((await signInWith(passkey)).status).toBe(429);
    clock.advance(MINUTE_MS);
    expect(await signInWith(passkey)).toMatchObject(SIGNED_IN);
  });

  it('keeps used challenges no longer than they could be used', async () => {
    const { passkey } = await holder();
    await signInWith(passkey);
    const { database } = homeport.platform;
    const count = async () =>
      (await database.reader.selectFrom('spent_passkey_challenges').selectAll().execute()).length;
    expect(await count()).toBeGreaterThan(0);
    clock.advance(5 * MINUTE_MS);
    await database.write(({ queries }) => deleteExpiredChallenges(queries, clock.now().toISOString()));
    expect(await count()).toBe(0);
  });
});

describe('a passkey after the password', () => {
  it('finishes the sign-in of its user only', async () => {
    const [{ person, passkey, accountId }, { passkey: foreign }] = [await holder(), await holder()];
    const browser = await afterPassword(person);
    expect((await browser.get('/session')).body).toMatchObject({
      second_factors: ['passkey'],
      user: { first_name: '' },
    });
    const options = await browser.post('/session/second_factor/options');
    expect(options.body).toMatchObject({ allowCredentials: [{ id: passkey.id }] });
    const finish = (by: SoftwarePasskey, quirks?: Quirks) =>
      browser.post('/session/second_factor', { passkey: by.answer(options.body, quirks) });
    expect((await finish(foreign)).status).toBe(401);
    expect((await finish(passkey, { verified: false })).status).toBe(401);
    expect(await finish(passkey)).toMatchObject(SIGNED_IN);
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'session.create',
      details: { second_factor: 'passkey' },
    });
  });

  it('counts as a wrong code if it is refused, and recovery codes work beside it', async () => {
    const { person, passkey, recoveryCodes } = await holder();
    const browser = await afterPassword(person);
    const options = await browser.post('/session/second_factor/options');
    const wrong = { passkey: passkey.answer(options.body, { forged: true }) };
    for (let times = 0; times < 5; times++) {
      expect((await browser.post('/session/second_factor', wrong)).status).toBe(401);
    }
    expect((await browser.get('/session')).status).toBe(401);
    expect(await subjects(person)).toContain('Wrong codes were entered after your password');
    const again = await afterPassword(person);
    expect(await again.post('/session/second_factor', { code: recoveryCodes[3] })).toMatchObject(SIGNED_IN);
  });

  it('is not offered before the password is right', async () => {
    const { person } = await holder();
    const browser = createPortalClient(homeport);
    expect((await browser.signIn(person.email, 'wrong')).status).toBe(401);
    expect((await browser.post('/session/second_factor/options')).status).toBe(401);
    expect((await browser.post('/session/second_factor', {})).status).toBe(401);
  });
});

describe('changes of a user with a passkey', () => {
  it('are renaming, which needs no proof, and removal, which takes the second factor', async () => {
    const { person, browser, passkey } = await holder();
    const { browser: stranger } = await holder();
    const id = text((await browser.get('/passkeys')).body, 'results', 0, 'id');
    expect((await browser.patch(`/passkeys/${id}`, { name: 'Laptop' })).body).toMatchObject({
      name: 'Laptop',
    });
    expect((await browser.patch(`/passkeys/${id}`, { name: ' ' })).status).toBe(400);
    expect((await stranger.patch(`/passkeys/${id}`, { name: 'Mine' })).status).toBe(404);
    const removal = `/passkeys/${id}/removal`;
    expect((await browser.post(removal, {})).status).toBe(400);
    expect((await browser.post(removal, { code: 'aaaa-aaaa-aaaa-aaaa' })).status).toBe(400);
    const proof = await proofOf({ browser, passkey });
    expect((await browser.post('/passkeys/not-an-id/removal', proof)).status).toBe(404);
    expect((await browser.post(removal, proof)).status).toBe(204);
    expect(await browser.post(removal, proof)).toMatchObject(WRONG_PROOF);
    expect((await browser.get('/second_factor')).body).toMatchObject({
      enabled: false,
      recovery_codes_left: 0,
    });
    expect(await signInWith(passkey)).toMatchObject(REFUSED);
    expect((await createPortalClient(homeport).signIn(person.email, PASSWORD)).body).toEqual({
      stage: 'full',
    });
    expect(await subjects(person)).toEqual(['A passkey was added', 'Your last passkey was removed']);
  });

  it('may remove another user’s passkey only if it is theirs', async () => {
    const [{ browser, passkey, recoveryCodes }, { browser: other }] = [await holder(), await holder()];
    const foreign = text((await other.get('/passkeys')).body, 'results', 0, 'id');
    const proof = await proofOf({ browser, passkey });
    expect((await browser.post(`/passkeys/${foreign}/removal`, proof)).status).toBe(404);
    const [code] = recoveryCodes;
    expect((await browser.post(`/passkeys/${foreign}/removal`, { code })).status).toBe(404);
    expect((await other.get('/passkeys')).body).toMatchObject({ results: [{ id: foreign }] });
  });

  it('can switch one-time codes on and off beside it', async () => {
    const { person, browser, passkey } = await holder();
    const begun = await browser.post('/second_factor/enrolment', await proofOf({ browser, passkey }));
    const code = codeAt(text(begun.body, 'secret'), clock.now());
    expect((await browser.post('/second_factor', { code })).status).toBe(200);
    expect((await (await afterPassword(person)).get('/session')).body).toMatchObject({
      second_factors: ['one_time_code', 'passkey'],
    });
    expect((await browser.post('/second_factor/removal', await proofOf({ browser, passkey }))).status).toBe(
      204,
    );
    expect((await browser.get('/second_factor')).body).toMatchObject({
      enabled: true,
      one_time_codes: false,
      recovery_codes_left: 10,
    });
    expect(await subjects(person)).toContain('Your one-time codes were switched off');
  });

  it('can change the email address with it', async () => {
    const { browser, passkey } = await holder();
    const wanted = { email: `${crypto.randomUUID()}@people.example`, current_password: PASSWORD };
    expect((await browser.post('/email_changes', wanted)).status).toBe(400);
    const proof = await proofOf({ browser, passkey });
    expect((await browser.post('/email_changes', { ...wanted, ...proof })).status).toBe(202);
    expect(await browser.post('/email_changes', { ...wanted, ...proof })).toMatchObject(WRONG_PROOF);
  });

  it('lose it with the second factor if the operator resets that', async () => {
    const { person, browser, passkey, recoveryCodes } = await holder();
    await enrolBeside({ browser, passkey });
    expect(await homeport.services.secondFactor.reset(person.userId)).toEqual({
      hadFactor: true,
      passkeys: 1,
    });
    expect((await browser.get('/session')).status).toBe(401);
    expect(await signInWith(passkey)).toMatchObject(REFUSED);
    const again = createPortalClient(homeport);
    expect((await again.signIn(person.email, PASSWORD)).body).toEqual({ stage: 'full' });
    expect(await enrol(again, clock.now())).not.toEqual(recoveryCodes);
    expect(await homeport.services.secondFactor.reset(person.userId)).toEqual({
      hadFactor: true,
      passkeys: 0,
    });
    expect(await homeport.services.secondFactor.reset(person.userId)).toEqual({
      hadFactor: false,
      passkeys: 0,
    });
  });
});

/** Adds a second passkey and removes it again, so that both tables were in use. */
async function enrolBeside(own: Pick<Holder, 'browser' | 'passkey'>): Promise<void> {
  const { body } = await add(own.browser, await proofOf(own));
  const removal = `/passkeys/${text(body, 'passkey', 'id')}/removal`;
  expect((await own.browser.post(removal, await proofOf(own))).status).toBe(204);
}
