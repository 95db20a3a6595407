import { type Logger, pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo, type ReadMail } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { createPortalClient, type PortalClient, signedIn } from '../../../../test/portal-client.ts';
import { spendAllBut } from '../../../../test/spent-limit.ts';
import { RATE_LIMITS } from '../../../access/rate-limits.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { verifyPassword } from '../../../secrets/password-hash.ts';

const PASSWORD = 'correct horse battery';

let homeport: TestHomeport;
let anybody: PortalClient;
let clock: ManualClock;
let accountId: string;
let owner: Person;
const lines: string[] = [];

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock, log: recorder(lines) });
  anybody = createPortalClient(homeport);
  accountId = await homeport.account('Söhne & <b>Co</b>');
  owner = await homeport.person(accountId, 'owner');
});
afterAll(() => homeport.remove());

function recorder(into: string[]): Logger {
  return pino({ level: 'trace' }, { write: (line) => into.push(line) });
}

/** Invites a new user (or `email`), and returns the mail and its token. */
async function invite(
  email = `${crypto.randomUUID()}@people.example`,
  { account = accountId, by = owner, first_name = 'Frida' } = {},
): Promise<{ email: string; userId: string; mail: ReadMail; link: string; token: string }> {
  const answer = await by.client.post(`/accounts/${account}/account_users`, {
    user: { account_id: account, first_name, last_name: 'Full', email, roles: 'full' },
  });
  const { mail, link, token } = await newMail(email);
  return { email, userId: text(answer.body, 'account_user', 'user_id'), mail, link, token };
}

/** The mail that no test has read yet. */
async function newMail(email: string): Promise<{ mail: ReadMail; link: string; token: string }> {
  await homeport.idle();
  const mail = mailsTo(homeport, email).find((one) => !seen.has(linkOf(one)));
  if (mail === undefined) throw new Error(`no mail went to ${email}`);
  const link = linkOf(mail);
  seen.add(link);
  return { mail, link, token: link.slice(link.lastIndexOf('/') + 1) };
}

const newToken = async (email: string) => (await newMail(email)).token;

/** Contents of earlier mails; with a stopped clock, files have no order. */
const seen = new Set<string>();
const linkOf = (mail: ReadMail) => /https:\S+/.exec(mail.text)?.[0] ?? '';

const open = (token: string) => anybody.get(`/invitations/${token}`);

const accept = (token: string, password: string | null = PASSWORD) =>
  anybody.post(`/invitations/${token}`, password === null ? {} : { password });

const accepted = async (userId: string, account = accountId, by = owner) =>
  field((await by.client.get(`/accounts/${account}/account_users/${userId}`)).body, 'invite_accepted');

async function passwordHash(userId: string): Promise<string | null> {
  const row = await homeport.platform.database.reader
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  return row.password_hash;
}

const EXPIRED = { status: 404, body: { message: 'Resource not found' } };

describe('the mail', () => {
  it('names inviter and account, and contains the link on one line', async () => {
    const { mail, token } = await invite();
    expect(mail).toEqual({
      from: 'Homeport <homeport@localhost>',
      to: mail.to,
      subject: expect.stringMatching(/^=\?UTF-8\?/),
      text: [
        'Hello Frida,',
        '',
        `Test Person (${owner.email}) invites you to the account Söhne & <b>Co</b>.`,
        `Its websites are hosted with Homeport. You can manage them in the portal at ${new URL(homeport.origin).host}.`,
        '',
        'To accept, open',
        '',
        `  ${homeport.origin}/invitations/${token}`,
        '',
        'The link works once, for 7 days.',
        'If you did not expect this mail, ignore it.',
        '',
      ].join('\n'),
    });
    expect(token).toMatch(/^[A-Za-z0-9_-]{22,}$/);
  });

  it('names no inviter if the operator invites', async () => {
    const email = `${crypto.randomUUID()}@people.example`;
    const member = { account_id: accountId, first_name: 'Frida', last_name: 'Full', email };
    await homeport.services.accountUsers.addByOperator(
      { ...member, roles: 'full' },
      { installNames: [], invite: true },
    );
    expect((await newMail(email)).mail.text).toContain('\nYou are invited to the account Söhne');
  });

  it('has a new link if the user is invited again; the old link stops working', async () => {
    const first = await invite();
    await owner.client.delete(`/accounts/${accountId}/account_users/${first.userId}`);
    expect(await open(first.token)).toMatchObject(EXPIRED);
    const second = await invite(first.email);
    expect(second.userId).toBe(first.userId);
    expect(second.token).not.toBe(first.token);
    expect(await accept(first.token)).toMatchObject(EXPIRED);
    expect((await accept(second.token)).status).toBe(204);
  });

  it('is not sent to former members or after acceptance', async () => {
    const { userId, token } = await invite();
    const { createLink } = homeport.services.invitations;
    expect(await createLink(accountId, crypto.randomUUID())).toBeUndefined();
    await accept(token);
    expect(await createLink(accountId, userId)).toBeUndefined();
  });
});

describe('the link', () => {
  it('shows the user and account, any number of times', async () => {
    const { token, email } = await invite();
    await open(token);
    const answer = await open(token);
    expect(answer).toMatchObject({
      status: 200,
      body: { account_name: 'Söhne & <b>Co</b>', first_name: 'Frida', email, has_password: false },
    });
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['short', 'elevenchars', 'The password must have at least 12 characters', 'too_short'],
    ['long', 'x'.repeat(257), 'The password must have at most 256 characters', 'too_long'],
    ['absent', null, 'Choose a password', 'required'],
  ])(
    'explains the fault of a password that is %s, and can be used again',
    async (_, password, message, code) => {
      const { token, userId } = await invite();
      const refused = await accept(token, password);
      expect(refused).toMatchObject({
        status: 400,
        body: { errors: [{ resource: 'Invitation', field: 'password', message, code }] },
      });
      expect(await passwordHash(userId)).toBeNull();
      expect(await accepted(userId)).toBe(false);
      expect((await accept(token)).status).toBe(204);
    },
  );

  it('sets the password with argon2id and accepts, once', async () => {
    const { token, userId, email } = await invite();
    expect(await accepted(userId)).toBe(false);
    expect(await accept(token)).toMatchObject({ status: 204, body: undefined });
    expect(await accepted(userId)).toBe(true);
    const hash = (await passwordHash(userId)) ?? '';
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verifyPassword(PASSWORD, hash)).toBe(true);
    expect(await verifyPassword(`${PASSWORD} `, hash)).toBe(false);

    expect(await open(token)).toMatchObject(EXPIRED);
    expect(await accept(token, 'another password')).toMatchObject(EXPIRED);
    expect(await passwordHash(userId)).toBe(hash);
    const browser = createPortalClient(homeport);
    expect((await browser.signIn(email, PASSWORD)).status).toBe(200);
    expect((await browser.get('/session')).body).toMatchObject({
      accounts: [{ id: accountId, role: 'full' }],
    });
  });

  it('accepts one of several concurrent requests', async () => {
    const { token, userId } = await invite();
    const passwords = ['password of the first', 'password of the second', 'password of the third'];
    const answers = await Promise.all(passwords.map((password) => accept(token, password)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    const winner = passwords[answers.findIndex(({ status }) => status === 204)] ?? '';
    expect(await verifyPassword(winner, (await passwordHash(userId)) ?? '')).toBe(true);
  });

  it('keeps the password of users who have one', async () => {
    const first = await invite();
    const other = await homeport.ownedAccount();
    const second = await invite(first.email, { account: other.accountId, by: other.owner });
    expect(second.userId).toBe(first.userId);
    await accept(first.token);
    const hash = await passwordHash(first.userId);

    expect(await accepted(first.userId, other.accountId, other.owner)).toBe(false);
    expect((await open(second.token)).body).toMatchObject({ has_password: true });
    expect((await accept(second.token, 'somebody else’s password')).status).toBe(204);
    expect(await passwordHash(first.userId)).toBe(hash);
    expect(await accepted(first.userId, other.accountId, other.owner)).toBe(true);
  });

  it('works until it expires', async () => {
    const early = await invite();
    const late = await invite();
    clock.advance(7 * DAY_MS - 1);
    expect((await accept(early.token)).status).toBe(204);
    clock.advance(1);
    expect(await open(late.token)).toMatchObject(EXPIRED);
    expect(await accept(late.token)).toMatchObject(EXPIRED);
    expect(await accepted(late.userId)).toBe(false);
    expect(await passwordHash(late.userId)).toBeNull();
  });

  it('answers alike for unknown and expired tokens', async () => {
    const { token } = await invite();
    for (const wrong of [
      token.slice(1),
      `${token}x`,
      token.toLowerCase(),
      'x',
      '%27',
      '%00',
      'x'.repeat(3000),
    ]) {
      expect(await open(wrong), wrong).toMatchObject(EXPIRED);
      expect(await accept(wrong), wrong).toMatchObject(EXPIRED);
    }
    expect((await open(token)).status).toBe(200);
  });

  it('is refused from a page of another site', async () => {
    const { token, userId } = await invite();
    const foreign = { json: { password: PASSWORD }, origin: 'https://evil.example' };
    expect((await anybody.call('POST', `/invitations/${token}`, foreign)).status).toBe(403);
    expect(
      (await anybody.call('GET', `/invitations/${token}`, { origin: 'https://evil.example' })).status,
    ).toBe(403);
    expect(await accepted(userId)).toBe(false);
  });
});

describe('declining an invitation', () => {
  const decline = (token: string) => anybody.delete(`/invitations/${token}`);

  it('deletes membership and link, and is logged', async () => {
    const { token, userId, email } = await invite();
    expect(await decline(token)).toMatchObject({ status: 204, body: undefined });
    expect(await open(token)).toMatchObject(EXPIRED);
    expect(await accept(token)).toMatchObject(EXPIRED);
    expect(await decline(token)).toMatchObject(EXPIRED);
    expect((await owner.client.get(`/accounts/${accountId}/account_users/${userId}`)).status).toBe(404);
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'account_user.remove',
      subject_id: userId,
      subject_name: email,
      user_id: userId,
      means: 'portal',
      details: { declined: true },
    });
  });

  it('is refused with a used, replaced or made-up link, and from a page of another site', async () => {
    const { token, userId } = await invite();
    const foreign = { origin: 'https://evil.example' };
    expect((await anybody.call('DELETE', `/invitations/${token}`, foreign)).status).toBe(403);
    expect(await decline(`${token}x`)).toMatchObject(EXPIRED);
    await accept(token);
    expect(await decline(token)).toMatchObject(EXPIRED);
    expect(await accepted(userId)).toBe(true);
  });

  it('excludes accepting it at the same time', async () => {
    const { token, userId } = await invite();
    const [accepting, declining] = await Promise.all([accept(token), decline(token)]);
    expect([accepting.status, declining.status].sort()).toEqual([204, 404]);
    const { status } = await owner.client.get(`/accounts/${accountId}/account_users/${userId}`);
    expect(status).toBe(accepting.status === 204 ? 200 : 404);
  });
});

describe('the number of invitations', () => {
  const tooMany = {
    status: 429,
    body: { message: 'Too many invitations' },
  };
  const ask = (
    by: Person,
    account: string,
    email = `${crypto.randomUUID()}@people.example`,
    roles = 'full',
  ) =>
    by.client.post(`/accounts/${account}/account_users`, {
      user: { account_id: account, first_name: 'A', last_name: 'B', email, roles },
    });

  it('is limited to 60 an hour per user, without refused ones', async () => {
    const { accountId: account, owner: by } = await homeport.ownedAccount();
    expect((await ask(by, account, by.email)).status).toBe(400);
    expect(RATE_LIMITS.invitationsByUser).toMatchObject({ size: 60, windowSeconds: 3_600 });
    await spendAllBut(homeport, RATE_LIMITS.invitationsByUser, { subject: by.userId, left: 3 });
    for (let times = 0; times < 3; times++) expect((await ask(by, account)).status).toBe(201);
    expect(await ask(by, account)).toMatchObject(tooMany);
    clock.advance(HOUR_MS);
    expect((await ask(by, account)).status).toBe(201);
  });

  it('is limited to five an hour per address, over all users and spellings', async () => {
    const email = `${crypto.randomUUID()}@people.example`;
    for (let times = 0; times < 6; times++) {
      const { accountId: account, owner: by } = await homeport.ownedAccount();
      const answer = await ask(by, account, times % 2 ? email : email.toUpperCase());
      expect(answer).toMatchObject(times < 5 ? { status: 201 } : tooMany);
    }
    const member = { account_id: await homeport.account(), first_name: 'A', last_name: 'B', email };
    const byOperator = homeport.services.accountUsers.addByOperator(
      { ...member, roles: 'full' },
      { installNames: [], invite: true },
    );
    expect(await byOperator).toMatchObject({ invite_accepted: false });
  });
});

describe('sending an invitation again', () => {
  const again = (browser: PortalClient, userId: string, account = accountId) =>
    browser.post(`/accounts/${account}/account_users/${userId}/invitation`);

  it('mails a new link, and the old one stops working', async () => {
    const { userId, email, token } = await invite();
    const browser = await signedIn(homeport, owner);
    expect(await again(browser, userId)).toMatchObject({ status: 202, body: undefined });
    const mailed = await newToken(email);
    expect(await open(token)).toMatchObject(EXPIRED);
    expect((await accept(mailed)).status).toBe(204);
    expect(await again(browser, userId)).toMatchObject({
      status: 400,
      body: { message: 'This invitation has already been accepted' },
    });
  });

  it('needs permission to invite such a member', async () => {
    const { userId } = await invite();
    const partial = await signedIn(homeport, await homeport.person(accountId, 'partial'));
    expect((await again(partial, userId)).status).toBe(404);
    const stranger = await signedIn(homeport, (await homeport.ownedAccount()).owner);
    expect((await again(stranger, userId)).status).toBe(404);
    const full = await signedIn(homeport, await homeport.person(accountId, 'full'));
    expect((await again(full, userId)).status).toBe(202);
    const invitedOwner = await owner.client.post(`/accounts/${accountId}/account_users`, {
      user: {
        account_id: accountId,
        first_name: 'O',
        last_name: 'W',
        email: 'o@people.example',
        roles: 'owner',
      },
    });
    expect((await again(full, text(invitedOwner.body, 'account_user', 'user_id'))).status).toBe(403);
    expect((await again(full, crypto.randomUUID())).status).toBe(404);
    expect((await again(full, 'x')).status).toBe(400);
  });

  it('is limited to five times an hour', async () => {
    const { userId } = await invite();
    const browser = await signedIn(homeport, owner);
    const answers = [];
    for (let times = 0; times < 6; times++) answers.push((await again(browser, userId)).status);
    expect(answers).toEqual([202, 202, 202, 202, 202, 429]);
    clock.advance(HOUR_MS);
    expect((await again(browser, userId)).status).toBe(202);
  });
});

it('an invitation is logged in the account', async () => {
  const account = await homeport.account();
  const by = await homeport.person(account, 'owner');
  const { userId, email } = await invite(undefined, { account, by });
  const browser = await signedIn(homeport, by);
  await browser.post(`/accounts/${account}/account_users/${userId}/invitation`);
  await accept(await newToken(email));
  const written = await activityOf(homeport, account);
  expect(written.filter(({ action }) => action.startsWith('account_user'))).toMatchObject([
    { action: 'account_user.invite', user_id: by.userId, means: 'api' },
    {
      action: 'account_user.invite',
      subject_id: userId,
      subject_name: email,
      user_id: by.userId,
      means: 'portal',
      details: { again: true },
    },
    {
      action: 'account_user.accept',
      subject_id: userId,
      subject_name: email,
      user_id: userId,
      means: 'portal',
    },
  ]);
});

it('the first password is logged in each account of the user', async () => {
  const [one, other] = [await homeport.account(), await homeport.account()];
  const by = await homeport.person(one, 'owner');
  const { userId, email } = await homeport.person(other, 'full');
  const { token } = await invite(email, { account: one, by });
  await accept(token);
  for (const account of [one, other]) {
    expect((await activityOf(homeport, account)).at(-1)).toMatchObject({
      action: 'password.set',
      subject_id: userId,
      user_id: userId,
      means: 'portal',
    });
  }
});

it('the token appears only in the mail', async () => {
  const { token } = await invite();
  await open(token);
  await accept(token, 'short');
  const { reader } = homeport.platform.database;
  const stored = await reader.selectFrom('invitations').selectAll().execute();
  const jobs = await reader.selectFrom('jobs').selectAll().execute();
  await accept(token);
  expect(jobs.some((job) => job.kind === 'send_invitation')).toBe(true);
  expect(JSON.stringify(jobs)).not.toContain(token);
  expect(JSON.stringify(stored)).not.toContain(token);
  expect(lines.some((line) => line.includes('/invitations/:token'))).toBe(true);
  const told = lines.filter((line) => line.includes(token) || line.includes(PASSWORD));
  expect(told).toEqual([]);
});
