import { once } from 'node:events';
import { type Logger, pino } from 'pino';
import { SMTPServer } from 'smtp-server';
import { type Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgent, field, text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { mailsTo, parseMail, type ReadMail } from '../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../clock.ts';
import { verifyPassword } from '../../passwords.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const PASSWORD = 'correct horse battery';

let homeport: TestHomeport;
let agent: Agent;
let clock: ManualClock;
let accountId: string;
let owner: Person;
const lines: string[] = [];

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock, log: recorder(lines) });
  agent = createAgent(homeport.ca);
  accountId = await homeport.account('Söhne & <b>Co</b>');
  owner = await homeport.person(accountId, 'owner');
});
afterAll(async () => {
  await agent.close();
  await homeport.remove();
});

function recorder(into: string[]): Logger {
  return pino({ level: 'trace' }, { write: (line) => into.push(line) });
}

/** Invites a new person (or `email`) and gives what came of it. */
async function invite(
  email = `${crypto.randomUUID()}@people.example`,
  { account = accountId, by = owner, first_name = 'Frida' } = {},
): Promise<{ email: string; userId: string; mail: ReadMail; link: string; token: string }> {
  const answer = await by.client.post(`/accounts/${account}/account_users`, {
    user: { account_id: account, first_name, last_name: 'Full', email, roles: 'full' },
  });
  await homeport.idle();
  const mail = mailsTo(homeport, email).find((one) => !seen.has(linkOf(one)));
  if (mail === undefined) throw new Error(`no mail went to ${email}`);
  const link = linkOf(mail);
  seen.add(link);
  const token = link.slice(link.lastIndexOf('/') + 1);
  return { email, userId: text(answer.body, 'account_user', 'user_id'), mail, link, token };
}

/** What earlier mails held: the clock stands still, so their files have no order. */
const seen = new Set<string>();
const linkOf = (mail: ReadMail) => /https:\S+/.exec(mail.text)?.[0] ?? '';

async function open(link: string) {
  const response = await request(link, { dispatcher: agent });
  return { status: response.statusCode, headers: response.headers, page: await response.body.text() };
}

async function send(link: string, form: Record<string, string>, type = 'application/x-www-form-urlencoded') {
  const response = await request(link, {
    method: 'POST',
    dispatcher: agent,
    headers: { 'content-type': type },
    body: new URLSearchParams(form).toString(),
  });
  return { status: response.statusCode, headers: response.headers, page: await response.body.text() };
}

const accept = (link: string, password = PASSWORD) => send(link, { password, repeated: password });

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

const EXPIRED = { status: 404, page: expect.stringContaining('This invitation cannot be used') };

describe('the mail', () => {
  it('names the account, and holds a link to the public address, whole on one line', async () => {
    const { mail, token } = await invite();
    expect(mail).toEqual({
      from: 'Homeport <homeport@localhost>',
      to: mail.to,
      subject: expect.stringMatching(/^=\?UTF-8\?/),
      text: [
        'Hello Frida,',
        '',
        'you are invited to the hosting account Söhne & <b>Co</b>.',
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

  it('comes again with a new link when the person is invited again; the old link is dead', async () => {
    const first = await invite();
    await owner.client.delete(`/accounts/${accountId}/account_users/${first.userId}`);
    expect(await open(first.link)).toMatchObject(EXPIRED);
    const second = await invite(first.email);
    expect(second.userId).toBe(first.userId);
    expect(second.token).not.toBe(first.token);
    expect(await accept(first.link)).toMatchObject(EXPIRED);
    expect((await accept(second.link)).status).toBe(200);
  });

  it('is not sent to who is no member any more, or has accepted', async () => {
    const { userId, link } = await invite();
    const { createLink } = homeport.services.invitations;
    expect(await createLink(accountId, crypto.randomUUID())).toBeUndefined();
    await accept(link);
    expect(await createLink(accountId, userId)).toBeUndefined();
  });
});

describe('the page', () => {
  it('shows whom and to what the invitation is, shown twice or more, and runs nothing', async () => {
    const { link, email } = await invite(undefined, { first_name: '"><img src=x>' });
    await open(link);
    const { status, headers, page } = await open(link);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(page).toContain('Söhne &#38; &#60;b&#62;Co&#60;/b&#62;');
    expect(page).toContain(email);
    expect(page).not.toMatch(/<script|<img|<b>/i);
    expect(page).toMatch(/<input type="password" name="password"/);
  });

  it.each([
    ['short', { password: 'elevenchars', repeated: 'elevenchars' }, 'at least 12 characters'],
    ['absent', {}, 'at least 12 characters'],
    ['long', { password: 'x'.repeat(257), repeated: 'x'.repeat(257) }, 'at most 256 characters'],
    ['unequal', { password: PASSWORD, repeated: `${PASSWORD}!` }, 'The two passwords are not the same.'],
    ['not repeated', { password: PASSWORD }, 'The two passwords are not the same.'],
  ])('says what is wrong with a password that is %s, and lets try again', async (_, form, sentence) => {
    const { link, userId } = await invite();
    const refused = await send(link, form);
    expect(refused).toMatchObject({ status: 400, page: expect.stringContaining(sentence) });
    expect(refused.headers['cache-control']).toBe('no-store');
    expect(refused.page).not.toContain(PASSWORD);
    expect(await passwordHash(userId)).toBeNull();
    expect(await accepted(userId)).toBe(false);
    expect((await accept(link)).status).toBe(200);
  });

  it('sets the password as argon2id and accepts, once', async () => {
    const { link, userId } = await invite();
    expect(await accepted(userId)).toBe(false);
    expect(await accept(link)).toMatchObject({ status: 200, page: expect.stringContaining('You are in') });
    expect(await accepted(userId)).toBe(true);
    const hash = (await passwordHash(userId)) ?? '';
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verifyPassword(PASSWORD, hash)).toBe(true);
    expect(await verifyPassword(`${PASSWORD} `, hash)).toBe(false);

    expect(await open(link)).toMatchObject(EXPIRED);
    expect(await accept(link, 'another password')).toMatchObject(EXPIRED);
    expect(await passwordHash(userId)).toBe(hash);
  });

  it('lets one of two simultaneous acceptances through', async () => {
    const { link, userId } = await invite();
    const passwords = ['password of the first', 'password of the second', 'password of the third'];
    const answers = await Promise.all(passwords.map((password) => accept(link, password)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    const winner = passwords[answers.findIndex(({ status }) => status === 200)] ?? '';
    expect(await verifyPassword(winner, (await passwordHash(userId)) ?? '')).toBe(true);
  });

  it('asks people who have a password for none, and leaves it as it is', async () => {
    const first = await invite();
    const other = await homeport.ownedAccount();
    const second = await invite(first.email, { account: other.accountId, by: other.owner });
    expect(second.userId).toBe(first.userId);
    await accept(first.link);
    const hash = await passwordHash(first.userId);

    expect(await accepted(first.userId, other.accountId, other.owner)).toBe(false);
    const { page } = await open(second.link);
    expect(page).toContain('You have a password already');
    expect(page).not.toContain('<input');
    expect((await accept(second.link, 'somebody else’s password')).status).toBe(200);
    expect(await passwordHash(first.userId)).toBe(hash);
    expect(await accepted(first.userId, other.accountId, other.owner)).toBe(true);
  });

  it('works until the days are over, and not after', async () => {
    const early = await invite();
    const late = await invite();
    clock.advance(7 * DAY_MS - 1);
    expect((await accept(early.link)).status).toBe(200);
    clock.advance(1);
    expect(await open(late.link)).toMatchObject(EXPIRED);
    expect(await accept(late.link)).toMatchObject(EXPIRED);
    expect(await accepted(late.userId)).toBe(false);
    expect(await passwordHash(late.userId)).toBeNull();
  });

  it('says of tokens that it never made what it says of expired ones', async () => {
    const { link, token } = await invite();
    const place = link.slice(0, -token.length);
    for (const wrong of [
      token.slice(1),
      `${token}x`,
      token.toLowerCase(),
      'x',
      '%27',
      '%00',
      'x'.repeat(3000),
    ]) {
      const answer = await open(place + wrong);
      expect(answer, wrong).toMatchObject(EXPIRED);
      expect(answer.headers['referrer-policy']).toBe('no-referrer');
      expect(await accept(place + wrong), wrong).toMatchObject(EXPIRED);
    }
    expect((await open(link)).status).toBe(200);
  });

  it('refuses what is no form with a 400, and the link still works', async () => {
    const { link } = await invite();
    expect((await send(link, { password: 'x'.repeat(20_000) })).status).toBe(400);
    expect((await send(link, {}, 'application/json')).status).toBe(400);
    expect((await send(link, {}, 'multipart/form-data')).status).toBe(400);
    expect((await accept(link)).status).toBe(200);
  });
});

it('writes the token nowhere but into the mail', async () => {
  const { link, token } = await invite();
  await open(link);
  await send(link, { password: 'short', repeated: 'short' });
  const { reader } = homeport.platform.database;
  const stored = await reader.selectFrom('invitations').selectAll().execute();
  const jobs = await reader.selectFrom('jobs').selectAll().execute();
  await accept(link);
  expect(jobs.some((job) => job.kind === 'send_invitation')).toBe(true);
  expect(JSON.stringify(jobs)).not.toContain(token);
  expect(JSON.stringify(stored)).not.toContain(token);
  expect(lines.some((line) => line.includes('/invitations/:token'))).toBe(true);
  const told = lines.filter((line) => line.includes(token) || line.includes(PASSWORD));
  expect(told).toEqual([]);
});

it('goes over SMTP with the configured name and password, and again when the server had no time', async () => {
  const received: ReadMail[] = [];
  let busy = true;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      if (username === 'homeport' && password === 'mail secret') done(null, { user: username });
      else done(new Error('wrong name or password'));
    },
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (busy) {
          busy = false;
          done(Object.assign(new Error('try again later'), { responseCode: 451 }));
        } else {
          received.push(parseMail(Buffer.concat(chunks).toString('latin1')));
          done();
        }
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the mail server has no port');
  const told: string[] = [];
  const time = manualClock(new Date());
  const other = await startTestHomeport({
    clock: time,
    log: recorder(told),
    environment: {
      HOMEPORT_SMTP_URL: `smtp://homeport:mail%20secret@127.0.0.1:${address.port}`,
      HOMEPORT_MAIL_FROM: 'Hosting <hosting@agency.example>',
      HOMEPORT_INVITATION_DAYS: '1',
    },
  });
  try {
    const { accountId: account, owner: by } = await other.ownedAccount();
    await by.client.post(`/accounts/${account}/account_users`, {
      user: {
        account_id: account,
        first_name: 'Frida',
        last_name: 'Full',
        email: 'frida@agency.example',
        roles: 'full',
      },
    });
    await other.idle();
    expect(busy).toBe(false);
    expect(received).toEqual([]);
    time.advance(60_000);
    await other.idle();
    expect(received).toMatchObject([
      {
        from: 'Hosting <hosting@agency.example>',
        to: 'frida@agency.example',
        subject: 'You are invited to An account',
        text: expect.stringContaining('The link works once, for 1 day.\n'),
      },
    ]);
    expect(received[0]?.text).toContain(`${other.origin}/invitations/`);
    expect(mailsTo(other, 'frida@agency.example')).toEqual([]);
    const jobs = await other.platform.database.reader
      .selectFrom('jobs')
      .select(['state', 'error'])
      .where('kind', '=', 'send_invitation')
      .execute();
    expect(jobs).toMatchObject([{ state: 'succeeded' }]);
    expect(told.filter((line) => line.includes('secret'))).toEqual([]);
  } finally {
    await other.remove();
    await new Promise<void>((resolve) => server.close(resolve));
  }
});
