import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo, type ReadMail } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { codeAt, enrol } from '../../../../test/one-time-codes.ts';
import { createPortalClient, PASSWORD, type PortalClient, signedIn } from '../../../../test/portal-client.ts';
import { refusal } from '../../../../test/refusal.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { operatorFor } from '../../../access/caller.ts';
import { HOUR_MS } from '../../../lib/durations.ts';

const GONE = { status: 404, body: { message: 'Resource not found' } };

let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;
let browser: PortalClient;
beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
});
afterAll(() => homeport.remove());

/** Starts with a new, signed-in owner of a new account. */
async function someone(): Promise<void> {
  ({ accountId, owner } = await homeport.ownedAccount());
  browser = await signedIn(homeport, owner);
}

/** Capitals before the @; the domain of a mail is in lower case. */
const inCapitals = (email: string) => email.replace(/^[^@]+/, (local) => local.toUpperCase());
const address = () => `${crypto.randomUUID()}@new.example`;

const ask = (email: string, more: object = {}, by = browser) =>
  by.post('/email_changes', { email, current_password: PASSWORD, ...more });

async function mailsOf(email: string): Promise<ReadMail[]> {
  await homeport.idle();
  return mailsTo(homeport, email);
}

/** The token in the latest confirmation mail to an address. */
async function tokenTo(email: string): Promise<string> {
  const start = `${homeport.origin}/me/email/`;
  const links = (await mailsOf(email)).map((mail) => /https:\S+/.exec(mail.text)?.[0] ?? '');
  const link = links.findLast((one) => one.startsWith(start)) ?? '';
  expect(link).not.toBe('');
  return link.slice(start.length);
}

/** Requests an address, and returns the token in the mail. */
async function asked(email = address()): Promise<string> {
  expect((await ask(email)).status).toBe(202);
  return tokenTo(email);
}

const emailOf = async () => (await owner.client.get('/user')).body;

describe('an email change', () => {
  it('takes effect when the mailed link is confirmed, and notifies the old address', async () => {
    await someone();
    const email = `New.${address()}`;
    expect(await ask(` ${email}\n`)).toMatchObject({ status: 202, body: undefined });
    const token = await tokenTo(email);
    expect(await mailsOf(email)).toMatchObject([
      {
        subject: 'Confirm your new email address',
        text: [
          'Hello,',
          '',
          'Someone, most likely you, wants to sign in to Homeport with this address.',
          'To confirm it, open',
          '',
          `  ${homeport.origin}/me/email/${token}`,
          '',
          'and sign in there with your current address, if needed. The link works once, for one hour.',
          'If it was not you, ignore this mail. Nothing changes.',
          '',
        ].join('\n'),
      },
    ]);
    expect(await browser.get(`/email_changes/${token}`)).toMatchObject({ status: 200, body: { email } });
    expect(await emailOf()).toMatchObject({ email: owner.email });
    expect(await mailsOf(owner.email)).toEqual([]);

    expect(await browser.post(`/email_changes/${token}`)).toMatchObject({ status: 204, body: undefined });
    expect(await emailOf()).toMatchObject({ email });
    const member = await owner.client.get(`/accounts/${accountId}/account_users/${owner.userId}`);
    expect(member.body).toMatchObject({ email });
    expect((await browser.get('/session')).body).toMatchObject({ user: { email } });
    expect((await createPortalClient(homeport).signIn(email.toLowerCase(), PASSWORD)).status).toBe(200);
    expect((await createPortalClient(homeport).signIn(owner.email, PASSWORD)).status).toBe(401);
    expect(await mailsOf(owner.email)).toMatchObject([
      {
        subject: 'Your email address was changed',
        text: expect.stringContaining('If this was not you, someone knows your password. Ask your provider'),
      },
    ]);
    expect(await activityOf(homeport, accountId)).toContainEqual(
      expect.objectContaining({
        action: 'profile.update',
        subject_id: owner.userId,
        user_id: owner.userId,
        means: 'portal',
        details: { from: owner.email, to: email },
      }),
    );
    expect(await browser.post(`/email_changes/${token}`)).toMatchObject(GONE);
  });

  it('may change only the case', async () => {
    await someone();
    const email = inCapitals(owner.email);
    expect((await browser.post(`/email_changes/${await asked(email)}`)).status).toBe(204);
    expect(await emailOf()).toMatchObject({ email });
    expect(await ask(email)).toMatchObject(
      refusal('EmailChange.email', 'invalid_value / unchanged', 'This is already your address'),
    );
  });

  it('invalidates links mailed to the old address', async () => {
    await someone();
    const link = await homeport.services.passwords.createLink(owner.userId, 'reset');
    await browser.post(`/email_changes/${await asked()}`);
    expect((await browser.get(`/password_links/${link.slice(link.lastIndexOf('/') + 1)}`)).status).toBe(404);
  });

  it('needs the current password', async () => {
    await someone();
    const email = address();
    expect(await ask(email, { current_password: 'wrong' })).toMatchObject(
      refusal('EmailChange.current_password', 'invalid_value / wrong', 'The current password is wrong'),
    );
    expect((await ask('no address')).status).toBe(400);
    expect((await ask(email, {}, createPortalClient(homeport))).status).toBe(401);
    expect(await mailsOf(email)).toEqual([]);
  });

  it('needs a code with a second factor, and uses it up', async () => {
    await someone();
    const { secret, recoveryCodes } = await enrol(browser, clock.now());
    clock.advance(30_000);
    const email = address();
    const sentence = 'Use a passkey, or enter a code from your app or a recovery code';
    expect(await ask(email)).toMatchObject(refusal('EmailChange.code', 'missing_field / required', sentence));
    expect(await ask(email, { code: '000000' })).toMatchObject(
      refusal('EmailChange.code', 'invalid_value / wrong', 'The code is wrong or was already used'),
    );
    expect(await mailsOf(email)).toEqual([]);
    const code = codeAt(secret, clock.now());
    const answers = await Promise.all([ask(email, { code }), ask(email, { code })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 400]);
    await homeport.idle();
    clock.advance(1000);
    expect((await ask(email, { code: recoveryCodes[0] })).status).toBe(202);
    expect((await ask(email, { code: recoveryCodes[0] })).status).toBe(400);
    expect((await browser.post(`/email_changes/${await tokenTo(email)}`)).status).toBe(204);
  });

  it('does not count the code if it is refused by the mail limit', async () => {
    await someone();
    const { recoveryCodes } = await enrol(browser, clock.now());
    clock.advance(HOUR_MS);
    const email = address();
    const code = recoveryCodes[0];
    const asker = await signedIn(homeport, await homeport.person());
    for (let times = 0; times < 5; times++) expect((await ask(email, {}, asker)).status).toBe(202);
    for (let times = 0; times < 10; times++) expect((await ask(email, { code })).status).toBe(429);
    expect((await browser.post('/second_factor/recovery_codes', { code })).status).toBe(200);
  });

  it('to an address of another user gets the same answer, notifies that user and changes nothing', async () => {
    await someone();
    const other = await homeport.person();
    const [free, others] = [await ask(address()), await ask(inCapitals(other.email))];
    expect({ status: others.status, body: others.body, names: Object.keys(others.headers) }).toEqual({
      status: free.status,
      body: free.body,
      names: Object.keys(free.headers),
    });
    const [mail, ...more] = await mailsOf(inCapitals(other.email));
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ subject: 'Another user requested your email address' });
    expect(mail?.text).toContain('nothing has changed');
    expect(mail?.text).not.toContain('/me/email/');
    for (const secret of [owner.email, 'Test']) expect(mail?.text).not.toContain(secret);
    expect(await emailOf()).toMatchObject({ email: owner.email });
  });

  it('is refused if another user has got the address meanwhile', async () => {
    await someone();
    const email = address();
    const token = await asked(email);
    const other = await homeport.person();
    await homeport.services.profile.changeByOperator(other.userId, { email });
    expect(await browser.post(`/email_changes/${token}`)).toMatchObject(
      refusal(
        'EmailChange.email',
        'value_unavailable / taken',
        'Another user has this address by now. Your address was not changed',
      ),
    );
    expect(await emailOf()).toMatchObject({ email: owner.email });
    expect(await mailsOf(owner.email)).toEqual([]);
  });
});

describe('an address of an unclaimed user', () => {
  const tokenIn = (mail?: ReadMail) => /\/invitations\/(\S+)/.exec(mail?.text ?? '')?.[1] ?? '';

  /** Invites an address to an account. */
  async function invited(
    email: string,
    by: { accountId: string; owner: Person },
    more: object = { roles: 'full' },
  ): Promise<string> {
    const answer = await by.owner.client.post(`/accounts/${by.accountId}/account_users`, {
      user: { account_id: by.accountId, first_name: 'Some', last_name: 'Body', email, ...more },
    });
    expect(answer.status).toBe(201);
    return text(answer.body, 'account_user', 'user_id');
  }

  it('is free after the invitation is revoked', async () => {
    const [email, inviting] = [address(), await homeport.ownedAccount()];
    const holder = await invited(email, inviting);
    await inviting.owner.client.delete(`/accounts/${inviting.accountId}/account_users/${holder}`);
    await someone();
    expect((await browser.post(`/email_changes/${await asked(email)}`)).status).toBe(204);
    expect(await emailOf()).toMatchObject({ email });
    const { reader } = homeport.platform.database;
    expect(await reader.selectFrom('users').select('id').where('id', '=', holder).execute()).toEqual([]);
  });

  it('passes its open invitations on, with working links', async () => {
    const email = address();
    const inviting = await homeport.ownedAccount();
    const caller = operatorFor(inviting.owner.userId);
    const name = `invited${process.pid}`;
    const { id: install } = await homeport.services.installs.create(caller, {
      name,
      account_id: inviting.accountId,
    });
    const holder = await invited(email, inviting, { roles: 'partial', install_ids: [install] });
    const token = tokenIn((await mailsOf(email)).at(-1));
    await someone();
    await invited(email, { accountId, owner });
    expect((await browser.post(`/email_changes/${await asked(email)}`)).status).toBe(204);
    const { owner: by, accountId: account } = inviting;
    expect((await by.client.get(`/accounts/${account}/account_users/${holder}`)).status).toBe(404);
    const path = `/accounts/${account}/account_users/${owner.userId}`;
    expect((await by.client.get(path)).body).toMatchObject({
      email,
      invite_accepted: false,
      roles: 'partial',
    });
    // Existing memberships keep their role.
    const own = await owner.client.get(`/accounts/${accountId}/account_users/${owner.userId}`);
    expect(own.body).toMatchObject({ email, invite_accepted: true, roles: 'owner' });
    expect((await createPortalClient(homeport).post(`/invitations/${token}`, {})).status).toBe(204);
    expect((await by.client.get(path)).body).toMatchObject({ invite_accepted: true });
    expect((await owner.client.get(`/installs/${install}`)).body).toMatchObject({ name });
  });

  it('counts as claimed with credentials or a joined account, even without a password', async () => {
    const [withCredentials, member] = [address(), address()];
    const inviting = await homeport.ownedAccount();
    const holder = await invited(withCredentials, inviting);
    await homeport.services.credentials.issue(holder, { name: 'by the operator' });
    await homeport.services.accountUsers.addByOperator(
      { account_id: inviting.accountId, first_name: 'Some', last_name: 'Body', email: member, roles: 'full' },
      { installNames: [], invite: false },
    );
    await someone();
    for (const email of [withCredentials, member]) {
      expect((await ask(email)).status).toBe(202);
      const subjects = (await mailsOf(email)).map(({ subject }) => subject);
      expect(subjects).toContain('Another user requested your email address');
      expect(subjects).not.toContain('Confirm your new email address');
    }
  });

  onlyInLong(it)('is refused if the invitation was accepted meanwhile', async () => {
    const [email, inviting] = [address(), await homeport.ownedAccount()];
    await invited(email, inviting);
    const invitation = tokenIn((await mailsOf(email)).at(-1));
    await someone();
    const token = await asked(email);
    const stranger = createPortalClient(homeport);
    expect((await stranger.post(`/invitations/${invitation}`, { password: PASSWORD })).status).toBe(204);
    expect(await browser.post(`/email_changes/${token}`)).toMatchObject({ status: 400 });
    expect(await emailOf()).toMatchObject({ email: owner.email });
  });
});

describe('the link', () => {
  it('works only for its user', async () => {
    await someone();
    const token = await asked();
    const stranger = await signedIn(homeport, await homeport.person());
    for (const who of [stranger, createPortalClient(homeport)]) {
      const status = who === stranger ? 404 : 401;
      expect((await who.get(`/email_changes/${token}`)).status).toBe(status);
      expect((await who.post(`/email_changes/${token}`)).status).toBe(status);
    }
    expect((await browser.get(`/email_changes/${token}`)).status).toBe(200);
    expect(await browser.get('/email_changes/x')).toMatchObject(GONE);
  });

  it('works once, for an hour', async () => {
    await someone();
    const [first, second] = [await asked(), await asked()];
    expect(await browser.post(`/email_changes/${first}`)).toMatchObject(GONE);
    clock.advance(HOUR_MS - 1);
    const answers = await Promise.all([1, 2, 3].map(() => browser.post(`/email_changes/${second}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    const late = await asked();
    clock.advance(HOUR_MS);
    expect(await browser.get(`/email_changes/${late}`)).toMatchObject(GONE);
    expect(await browser.post(`/email_changes/${late}`)).toMatchObject(GONE);
  });

  it('stops working after a password change, or if the operator changes the address', async () => {
    await someone();
    const token = await asked();
    const change = { current_password: PASSWORD, password: 'changed in the meantime' };
    expect((await browser.post('/password', change)).status).toBe(204);
    expect(await browser.post(`/email_changes/${token}`)).toMatchObject(GONE);
    await someone();
    const other = await asked();
    await homeport.services.profile.changeByOperator(owner.userId, { email: address() });
    expect(await browser.post(`/email_changes/${other}`)).toMatchObject(GONE);
  });

  it('appears only in the mail', async () => {
    await someone();
    const token = await asked();
    const { reader } = homeport.platform.database;
    const stored = JSON.stringify([
      await reader.selectFrom('email_changes').selectAll().execute(),
      await reader.selectFrom('jobs').selectAll().execute(),
    ]);
    expect(stored).toContain('ask_new_address');
    expect(stored).not.toContain(token);
  });

  it('is mailed five times an hour, per address and per user', async () => {
    await someone();
    const email = address();
    const statuses = [];
    for (let times = 0; times < 6; times++) statuses.push((await ask(email)).status);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
    expect((await ask(address())).status).toBe(429);
    await someone();
    expect((await ask(email)).status).toBe(429);
    expect((await ask(address())).status).toBe(202);
    clock.advance(HOUR_MS);
    expect((await ask(email)).status).toBe(202);
  });
});
