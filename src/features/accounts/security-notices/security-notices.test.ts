import { hash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo, type ReadMail } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { codeAt, enrol } from '../../../../test/one-time-codes.ts';
import { createPortalClient, PASSWORD, type PortalClient, signedIn } from '../../../../test/portal-client.ts';
import { newSshKey } from '../../../../test/ssh-key.ts';
import { OPERATOR } from '../../../access/caller.ts';
import { HOUR_MS } from '../../../lib/durations.ts';

const NEW = 'a new password of mine';

let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let person: Person;
let browser: PortalClient;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
});
afterAll(() => homeport.remove());
beforeEach(async () => {
  ({ accountId, owner: person } = await homeport.ownedAccount());
  browser = await signedIn(homeport, person);
});

async function mails(email = person.email): Promise<ReadMail[]> {
  await homeport.idle();
  return mailsTo(homeport, email);
}

const subjects = async () => (await mails()).map(({ subject }) => subject);
/** The one mail of a subject. */
async function mailOf(subject: string): Promise<ReadMail> {
  const [mail, ...more] = (await mails()).filter((one) => one.subject === subject);
  expect(more).toEqual([]);
  if (!mail) throw new Error(`no mail with the subject "${subject}"`);
  return mail;
}

const changePassword = (current_password: string, password: string) =>
  browser.post('/password', { current_password, password });
const lastPart = (link: string) => link.slice(link.lastIndexOf('/') + 1);

describe('notices about a password', () => {
  it('give the time, address and client of a change, and advice', async () => {
    expect((await changePassword(PASSWORD, NEW)).status).toBe(204);
    const minute = `${clock.now().toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    expect(await mails()).toMatchObject([
      {
        subject: 'Your password was changed',
        text: [
          'Hello Test,',
          '',
          'Your Homeport password was changed.',
          '',
          `When:     ${minute}`,
          'From:     127.0.0.1',
          'With:     a browser, in the portal',
          '',
          'If this was not you, someone else has access to your account. Set a new password at',
          '',
          `  ${homeport.origin}/forgotten-password`,
          '',
          'This ends all your sessions and lets you revoke your API access, too. Then check your passkeys, your',
          'second factor and your API credentials:',
          '',
          `  ${homeport.origin}/me/security`,
          `  ${homeport.origin}/me/api-access`,
          '',
          'If you can no longer sign in, ask your provider.',
          '',
        ].join('\n'),
      },
    ]);
  });

  it('are not sent if the change is refused', async () => {
    expect((await changePassword('wrong', NEW)).status).toBe(400);
    expect((await changePassword(PASSWORD, 'short')).status).toBe(400);
    expect(await mails()).toEqual([]);
  });

  it('are sent for a reset by link, except for the first password', async () => {
    const link = lastPart(await homeport.services.passwords.createLink(person.userId, 'reset'));
    expect((await browser.post(`/password_links/${link}`, { password: NEW })).status).toBe(204);
    expect(await subjects()).toEqual(['Your password was reset']);

    const other = await homeport.person();
    const first = lastPart(await homeport.services.passwords.createLink(other.userId, 'first'));
    expect((await browser.post(`/password_links/${first}`, { password: NEW })).status).toBe(204);
    expect(await mails(other.email)).toEqual([]);
  });

  it('are not sent for a password set with an invitation', async () => {
    const email = `${crypto.randomUUID()}@people.example`;
    const user = { account_id: accountId, first_name: 'Ada', last_name: 'B', email, roles: 'full' };
    expect((await person.client.post(`/accounts/${accountId}/account_users`, { user })).status).toBe(201);
    const [invitation] = await mails(email);
    const token = /invitations\/(\S+)/.exec(invitation?.text ?? '')?.[1];
    expect((await browser.post(`/invitations/${token}`, { password: NEW })).status).toBe(204);
    expect((await createPortalClient(homeport).signIn(email, NEW)).status).toBe(200);
    expect(await mails(email)).toHaveLength(1);
  });
});

describe('notices about a second factor', () => {
  it('are sent when it is switched on or off', async () => {
    const { recoveryCodes } = await enrol(browser, clock.now());
    expect(await subjects()).toEqual(['Your second factor was switched on']);
    expect((await browser.post('/second_factor/removal', { code: recoveryCodes[0] })).status).toBe(204);
    const { text } = await mailOf('Your second factor was switched off');
    expect(text).toContain('Signing in to Homeport as you now takes only your password.');
    expect(text).toContain('If this was not you');
  });

  it('are sent when recovery codes are replaced, without the codes', async () => {
    const { recoveryCodes } = await enrol(browser, clock.now());
    const renewed = await browser.post('/second_factor/recovery_codes', { code: recoveryCodes[0] });
    expect(renewed.status).toBe(200);
    const mail = await mailOf('Your recovery codes were replaced');
    for (const code of [...recoveryCodes, text(renewed.body, 'recovery_codes', 0)]) {
      expect(mail.text).not.toContain(code);
    }
  });

  it('are sent for a sign-in by recovery code, with the number left, but not for one by app', async () => {
    const { secret, recoveryCodes } = await enrol(browser, clock.now());
    const signIn = async (code = '') => {
      const client = createPortalClient(homeport);
      await client.signIn(person.email, PASSWORD);
      return client.post('/session/second_factor', { code });
    };
    clock.advance(60_000);
    expect((await signIn(codeAt(secret, clock.now()))).status).toBe(200);
    expect(await subjects()).toEqual(['Your second factor was switched on']);
    expect((await signIn(recoveryCodes[0])).status).toBe(200);
    const { text } = await mailOf('A recovery code was used to sign in');
    expect(text).toContain('Left:     9 recovery codes\nWhen: ');
    expect(text).not.toContain(recoveryCodes[0]);
  });
});

describe('notices about a new API credential', () => {
  it('show its name and rights, never its password', async () => {
    const made = await browser.post('/credentials', { name: 'Deployment' });
    expect(made.status).toBe(201);
    const mail = await mailOf('A new API credential was created');
    expect(mail.text).toContain(
      [
        'Name:     Deployment',
        'May:      read and change what you can, in all your accounts',
        'Expires:  never',
        'When: ',
      ].join('\n'),
    );
    const password = text(made.body, 'password');
    const jobs = await homeport.platform.database.reader.selectFrom('jobs').selectAll().execute();
    expect(mail.text).not.toContain(password);
    expect(JSON.stringify(jobs)).not.toContain(password);
  });

  it('show its limits', async () => {
    const install = await homeport.install(person, accountId);
    const expires_at = new Date(clock.now().getTime() + HOUR_MS).toISOString();
    const made = await browser.post('/credentials', {
      name: 'Watch',
      read_only: true,
      account_id: accountId,
      install_ids: [install.id],
      expires_at,
    });
    expect(made.status).toBe(201);
    const { text } = await mailOf('A new API credential was created');
    expect(text).toContain('May:      read what you can, in only the account An account, 1 install of it\n');
    expect(text).toContain(`Expires:  ${expires_at.slice(0, 16).replace('T', ' ')} UTC\n`);
  });

  it('are limited to five an hour, apart from other kinds of notices', async () => {
    clock.advance(HOUR_MS - (clock.now().getTime() % HOUR_MS));
    const make = async (count: number) => {
      for (let times = 0; times < count; times++) await browser.post('/credentials', { name: 'One more' });
    };
    await make(7);
    expect(await subjects()).toEqual(Array(5).fill('A new API credential was created'));
    expect((await changePassword(PASSWORD, NEW)).status).toBe(204);
    expect(await subjects()).toContain('Your password was changed');
    clock.advance(HOUR_MS);
    await make(1);
    expect(await subjects()).toHaveLength(7);
  });
});

describe('notices about wrong codes after the right password', () => {
  const SUBJECT = 'Wrong codes were entered after your password';
  const NO_RECOVERY_CODE = 'aaaa-aaaa-aaaa-aaaa';
  const noticeCount = async () => (await subjects()).filter((subject) => subject === SUBJECT).length;

  /** Signs in with the password and enters codes, in an unknown browser. */
  async function tryCodes(...codes: string[]): Promise<void> {
    const stranger = createPortalClient(homeport);
    for (const code of codes) {
      // Five wrong codes end a session.
      if (stranger.cookie === null) await stranger.signIn(person.email, PASSWORD);
      const { status } = await stranger.post('/session/second_factor', { code });
      expect([200, 401]).toContain(status);
      if (status === 200) stranger.cookie = null;
    }
  }
  const wrong = (count: number): string[] => Array(count).fill(NO_RECOVERY_CODE);

  beforeEach(() => {
    clock.advance(HOUR_MS - (clock.now().getTime() % HOUR_MS));
  });

  it('are sent after the fifth wrong code', async () => {
    await enrol(browser, clock.now());
    await tryCodes('000000', '999999', ...wrong(2));
    expect(await noticeCount()).toBe(0);
    await tryCodes('what');
    const mail = await mailOf(SUBJECT);
    expect(mail.text).toContain('\nCodes:    5 wrong since the last right one\nWhen: ');
    expect(mail.text).toContain('\nFrom:     127.0.0.1\n');
    expect(mail.text).toContain(`\n  ${homeport.origin}/forgotten-password\n`);
    const written = await activityOf(homeport, accountId);
    expect(written.at(-1)).toMatchObject({
      action: 'second_factor.refuse',
      subject_name: person.email,
      user_id: null,
      details: { wrong_codes: 5 },
    });
  });

  it('are mailed and logged at most once an hour', async () => {
    await enrol(browser, clock.now());
    await tryCodes(...wrong(5));
    await tryCodes(...wrong(5));
    expect(await noticeCount()).toBe(1);
    clock.advance(HOUR_MS);
    await tryCodes(...wrong(4));
    expect(await noticeCount()).toBe(1);
    await tryCodes(...wrong(1));
    expect(await noticeCount()).toBe(2);
    const written = (await activityOf(homeport, accountId)).filter(
      ({ action }) => action === 'second_factor.refuse',
    );
    expect(written.map(({ details }) => details)).toEqual([{ wrong_codes: 5 }, { wrong_codes: 15 }]);
  });

  it('count codes across sessions and hours', async () => {
    await enrol(browser, clock.now());
    for (let hours = 0; hours < 5; hours++) {
      expect(await noticeCount()).toBe(0);
      await tryCodes(...wrong(1));
      clock.advance(HOUR_MS);
    }
    expect(await noticeCount()).toBe(1);
  });

  it('start again after a right code', async () => {
    const { recoveryCodes } = await enrol(browser, clock.now());
    await tryCodes(...wrong(4), recoveryCodes[0] ?? '');
    await tryCodes(...wrong(4));
    expect(await noticeCount()).toBe(0);
  });

  it('are sent once for concurrent wrong codes', async () => {
    await enrol(browser, clock.now());
    const stranger = createPortalClient(homeport);
    await stranger.signIn(person.email, PASSWORD);
    const code = NO_RECOVERY_CODE;
    await Promise.all(wrong(8).map(() => stranger.post('/session/second_factor', { code })));
    expect(await noticeCount()).toBe(1);
  });
});

describe('notices about a new SSH key', () => {
  const { public: line } = newSshKey();
  const [, blob = ''] = line.split(' ');
  const fingerprint = `SHA256:${hash('sha256', Buffer.from(blob, 'base64'), 'base64').replace(/=+$/, '')}`;

  it('show its name and fingerprint, never the key', async () => {
    expect((await browser.post('/v1/ssh_keys', { public_key: `${line.trim()} me@laptop` })).status).toBe(201);
    const mail = await mailOf('A new SSH key was added');
    expect(mail.text).toContain(`\nName:     me@laptop\nKey:      ${fingerprint}\nWhen: `);
    expect(mail.text).toContain('From:     127.0.0.1\nWith:     a browser, in the portal\n');
    expect(mail.text).toContain(`\n  ${homeport.origin}/me/ssh-keys\n`);
    const jobs = await homeport.platform.database.reader.selectFrom('jobs').selectAll().execute();
    expect(mail.text + JSON.stringify(jobs)).not.toContain(blob.slice(-40));
  });

  it('name the API credential that added it, and leave out an empty name', async () => {
    expect((await person.client.post('/ssh_keys', { public_key: line })).status).toBe(201);
    const { text } = await mailOf('A new SSH key was added');
    expect(text).toContain('With:     your API credential “test”\n');
    expect(text).toContain(`\n\nKey:      ${fingerprint}\n`);
  });

  it('name the command line if the operator added it', async () => {
    await homeport.services.sshKeys.add(
      { userId: person.userId, limits: null, origin: OPERATOR.origin },
      line,
    );
    const { text } = await mailOf('A new SSH key was added');
    expect(text).toContain(`UTC\nWith:     the command line of your provider\n`);
  });

  it('are not sent for refused or removed keys', async () => {
    const added = await person.client.post('/ssh_keys', { public_key: line });
    expect((await person.client.post('/ssh_keys', { public_key: line })).status).toBe(400);
    expect((await person.client.delete(`/ssh_keys/${text(added.body, 'uuid')}`)).status).toBe(204);
    expect(await subjects()).toEqual(['A new SSH key was added']);
  });
});

it('users without a password get no notices', async () => {
  const { email, userId } = await homeport.person(accountId);
  await homeport.services.credentials.issue(userId, { name: 'another' });
  expect(await mails(email)).toEqual([]);
});
