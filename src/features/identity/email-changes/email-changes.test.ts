import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo, type ReadMail } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { codeAt, enrol } from '../../../../test/one-time-codes.ts';
import { createPortalClient, PASSWORD, type PortalClient, signedIn } from '../../../../test/portal-client.ts';
import { refusal } from '../../../../test/refusal.ts';
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

/** A person of an account of their own, signed in. */
async function someone(): Promise<void> {
  ({ accountId, owner } = await homeport.ownedAccount());
  browser = await signedIn(homeport, owner);
}

/** With capitals before the @; the mail goes to a domain in small letters. */
const inCapitals = (email: string) => email.replace(/^[^@]+/, (local) => local.toUpperCase());
const address = () => `${crypto.randomUUID()}@new.example`;

const ask = (email: string, more: object = {}, by = browser) =>
  by.post('/email_changes', { email, current_password: PASSWORD, ...more });

async function mailsOf(email: string): Promise<ReadMail[]> {
  await homeport.idle();
  return mailsTo(homeport, email);
}

/** The token in the latest mail to an address that asks whether it is the person's. */
async function tokenTo(email: string): Promise<string> {
  const start = `${homeport.origin}/me/email/`;
  const links = (await mailsOf(email)).map((mail) => /https:\S+/.exec(mail.text)?.[0] ?? '');
  const link = links.findLast((one) => one.startsWith(start)) ?? '';
  expect(link).not.toBe('');
  return link.slice(start.length);
}

/** Asks for an address, and gives the token in the mail. */
async function asked(email = address()): Promise<string> {
  expect((await ask(email)).status).toBe(202);
  return tokenTo(email);
}

const emailOf = async () => (await owner.client.get('/user')).body;

describe('another e-mail address', () => {
  it('is the person’s once the link in the mail there was confirmed, and the old one is told', async () => {
    await someone();
    const email = `New.${address()}`;
    expect(await ask(` ${email}`)).toMatchObject({ status: 400 });
    expect(await ask(email)).toMatchObject({ status: 202, body: undefined });
    const token = await tokenTo(email);
    expect(await mailsOf(email)).toMatchObject([
      {
        subject: 'Confirm your new e-mail address',
        text: [
          'Hello,',
          '',
          'somebody, most likely you, wants to sign in to Homeport with this address from now on.',
          'To confirm it, open',
          '',
          `  ${homeport.origin}/me/email/${token}`,
          '',
          'and sign in there as until now, if you are not signed in. The link works once, for one hour.',
          'If it was not you, ignore this mail: nothing is changed.',
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
        subject: 'Your e-mail address was changed',
        text: expect.stringContaining('If this was not you: somebody knows your password. Ask your provider'),
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

  it('may be the same one with other capitals', async () => {
    await someone();
    const email = inCapitals(owner.email);
    expect((await browser.post(`/email_changes/${await asked(email)}`)).status).toBe(204);
    expect(await emailOf()).toMatchObject({ email });
    expect(await ask(email)).toMatchObject(
      refusal('EmailChange.email', 'invalid_value / unchanged', 'This is your address already'),
    );
  });

  it('ends what was mailed to the old one', async () => {
    await someone();
    const link = await homeport.services.passwords.createLink(owner.userId, 'reset');
    await browser.post(`/email_changes/${await asked()}`);
    expect((await browser.get(`/password_links/${link.slice(link.lastIndexOf('/') + 1)}`)).status).toBe(404);
  });

  it('is asked for with the present password', async () => {
    await someone();
    const email = address();
    expect(await ask(email, { current_password: 'wrong' })).toMatchObject(
      refusal('EmailChange.current_password', 'invalid_value / wrong', 'The current password is not right'),
    );
    expect((await ask('no address')).status).toBe(400);
    expect((await ask(email, {}, createPortalClient(homeport))).status).toBe(401);
    expect(await mailsOf(email)).toEqual([]);
  });

  it('is asked for with a code, where the second factor is switched on; the code is used up', async () => {
    await someone();
    const { secret, recoveryCodes } = await enrol(browser, clock.now());
    clock.advance(30_000);
    const email = address();
    const sentence = 'Type a code of your app, or a recovery code';
    expect(await ask(email)).toMatchObject(refusal('EmailChange.code', 'missing_field / required', sentence));
    expect(await ask(email, { code: '000000' })).toMatchObject(
      refusal('EmailChange.code', 'invalid_value / wrong', 'The code is not right, or was used already'),
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

  it('that is asked for too often costs none of the codes that somebody may try', async () => {
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

  it('of somebody else is answered as any other; that mailbox hears of it, and nothing changes', async () => {
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
    expect(mail).toMatchObject({ subject: 'Your e-mail address was asked for' });
    expect(mail?.text).toContain('nothing is changed');
    expect(mail?.text).not.toContain('/me/email/');
    for (const secret of [owner.email, 'Test']) expect(mail?.text).not.toContain(secret);
    expect(await emailOf()).toMatchObject({ email: owner.email });
  });

  it('that somebody has got meanwhile is refused', async () => {
    await someone();
    const email = address();
    const token = await asked(email);
    const other = await homeport.person();
    await homeport.services.profile.changeByOperator(other.userId, { email });
    expect(await browser.post(`/email_changes/${token}`)).toMatchObject(
      refusal(
        'EmailChange.email',
        'value_unavailable / taken',
        'Somebody else has this address by now, so nothing is changed',
      ),
    );
    expect(await emailOf()).toMatchObject({ email: owner.email });
    expect(await mailsOf(owner.email)).toEqual([]);
  });
});

describe('an address by which somebody was invited, and nothing more', () => {
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

  it('is free for whom the mailbox belongs to, once the invitation was taken back', async () => {
    const [email, inviting] = [address(), await homeport.ownedAccount()];
    const holder = await invited(email, inviting);
    await inviting.owner.client.delete(`/accounts/${inviting.accountId}/account_users/${holder}`);
    await someone();
    expect((await browser.post(`/email_changes/${await asked(email)}`)).status).toBe(204);
    expect(await emailOf()).toMatchObject({ email });
    const { reader } = homeport.platform.database;
    expect(await reader.selectFrom('users').select('id').where('id', '=', holder).execute()).toEqual([]);
  });

  it('brings the open invitations with it, whose links work as before', async () => {
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
    // Where they are already, they stay what they are.
    const own = await owner.client.get(`/accounts/${accountId}/account_users/${owner.userId}`);
    expect(own.body).toMatchObject({ email, invite_accepted: true, roles: 'owner' });
    expect((await createPortalClient(homeport).post(`/invitations/${token}`, {})).status).toBe(204);
    expect((await by.client.get(path)).body).toMatchObject({ invite_accepted: true });
    expect((await owner.client.get(`/installs/${install}`)).body).toMatchObject({ name });
  });

  it('is somebody’s who has credentials or an account, also without a password', async () => {
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
      expect(subjects).toContain('Your e-mail address was asked for');
      expect(subjects).not.toContain('Confirm your new e-mail address');
    }
  });

  it('is refused where the invitation was accepted meanwhile', async () => {
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
  it('is for who asked alone', async () => {
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

  it('works for an hour, and changes once', async () => {
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

  it('is worth nothing once the password was changed, or the operator has changed the address', async () => {
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

  it('stands in the mail alone', async () => {
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

  it('is mailed five times an hour to an address, and for a person', async () => {
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
