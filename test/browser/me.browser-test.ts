import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { publicKey } from '../contract/resource-set.ts';
import type { Person } from '../homeport.ts';
import { mailsTo } from '../mails.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { expectAccessibleInLong, focused, PASSWORD, type Portal, startPortal } from './portal.ts';
import { enrol, keepCodes, skippingClock } from './second-factor.ts';
import { expectBothThemesInLong } from './themes.ts';

const run = promisify(execFile);
const clock = skippingClock();
let portal: Portal;
let accountId: string;
let install: { id: string; name: string };
/** The user of `page`, which is new for each test. */
let owner: Person;
let page: Page;
/** A user whom no test changes in a way that affects others. */
let settled: Person;
let window: Page;
beforeAll(async () => {
  portal = await startPortal({ clock });
  ({ owner: settled, accountId } = await portal.homeport.ownedAccount());
  [install] = await Promise.all([
    portal.homeport.install(settled, accountId),
    portal.homeport.install(settled, accountId),
  ]);
  window = await portal.signedIn(settled);
});
beforeEach(async () => {
  owner = settled;
  page = await window.context().newPage();
  await page.goto('/');
  return () => page.close();
});
afterAll(() => portal.remove());

const clipboard = async () => String(await page.evaluate('navigator.clipboard.readText()'));
const table = (name: string) => page.getByRole('table', { name });
const dialog = () => page.getByRole('dialog').or(page.getByRole('alertdialog'));

/** Continues as a new user, whom the test may change. */
async function asSomebodyNew(): Promise<void> {
  await page.close();
  owner = await portal.homeport.person(accountId, 'owner');
  page = await portal.signedIn(owner);
}

/** Opens one of the user's own pages by the menu. */
async function open(name: string): Promise<void> {
  await page.getByRole('button', { name: /: your account$/ }).click();
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}

describe('the profile', () => {
  it('changes names and phone number, which the menu shows immediately', async () => {
    await open('Profile');
    const menu = page.getByRole('button', { name: /: your account$/ });
    await expect.poll(() => menu.getAttribute('aria-current')).toBe('true');
    await menu.click();
    const current = page.getByRole('banner').locator('a[aria-current]');
    await expect.poll(() => current.allTextContents()).toEqual(['Profile']);
    await menu.press('Escape');
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
    await page.getByLabel('First name').fill('Ada');
    await page.getByLabel('Phone number').fill('+44 20 7946 0000');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Ada Person: your account' }).waitFor();
    expect((await owner.client.get('/user')).body).toMatchObject({
      first_name: 'Ada',
      phone_number: '+44 20 7946 0000',
    });
  });

  onlyInLong(it)('changes the email address by a confirmation link', async () => {
    await asSomebodyNew();
    await open('Profile');
    const email = 'ada.byron@people.example';
    await page.getByLabel('New email address').fill(email);
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Send confirmation link' }).click();
    await page.getByText(`We sent a link to ${email}`).waitFor();
    await expect.poll(() => focused(page)).toContain('Check your email');
    await expectAccessibleInLong(page);
    await portal.homeport.idle();
    const [link = ''] =
      mailsTo(portal.homeport, email)
        .at(-1)
        ?.text.match(/https:\/\/\S+/) ?? [];
    await page.goto(new URL(link).pathname);
    await page.getByRole('heading', { name: email }).waitFor();
    await expectBothThemesInLong(page);
    expect((await owner.client.get('/user')).body).toMatchObject({ email: owner.email });
    await page.getByRole('button', { name: 'Use this address' }).click();
    await page.getByText('Changed your email address.').waitFor();
    await page.getByText(email).waitFor();
    expect((await owner.client.get('/user')).body).toMatchObject({ email });
    await page.goto(new URL(link).pathname);
    await page.getByText('This link does not work').waitFor();
    await expectAccessibleInLong(page);
  });
});

describe('password, second factor and sessions', () => {
  /** Signs the owner in with another browser. Returns a function with the status of that session. */
  async function elsewhere(): Promise<() => Promise<number>> {
    const { request } = await portal.browser();
    const session = '/portal/api/session';
    const credentials = { email: owner.email, password: PASSWORD };
    const answer = await request.post(session, {
      data: credentials,
      headers: { origin: portal.homeport.origin },
    });
    expect(answer.status()).toBe(200);
    return async () => (await request.get(session)).status();
  }

  onlyInLong(it)('ends one session, and all others', async () => {
    const first = await elsewhere();
    const second = await elsewhere();
    await open('Password and second factor');
    await table('Your sessions').getByText('This browser').waitFor();
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
    await page
      .getByRole('button', { name: /^End the session of Chrome on Linux/ })
      .first()
      .click();
    await dialog().getByRole('button', { name: 'End session' }).click();
    await page.getByText('Ended the session.').waitFor();
    expect([await first(), await second()]).toEqual([200, 401]);
    await page.getByRole('button', { name: 'End all other sessions' }).click();
    await dialog().getByRole('button', { name: 'End all other sessions' }).click();
    await page.getByText('Ended all other sessions.').waitFor();
    expect(await first()).toBe(401);
    await expect.poll(() => table('Your sessions').getByRole('row').count()).toBe(2);
  });

  it('changes the password after checking the current one', async () => {
    await asSomebodyNew();
    await open('Password and second factor');
    const change = async (current: string) => {
      await page.getByLabel('Current password').fill(current);
      await page.getByLabel('New password').fill('a better one by far');
      await page.getByLabel('Confirm password').fill('a better one by far');
      await page.getByRole('button', { name: 'Change password' }).click();
    };
    await change('not the password');
    await page.getByText(/password is wrong/).waitFor();
    await expect.poll(() => page.getByLabel('Current password').getAttribute('aria-invalid')).toBe('true');
    await change(PASSWORD);
    await page.getByText('Changed your password.').waitFor();
    await expect.poll(() => page.getByLabel('Current password').inputValue()).toBe('');
  });

  onlyInLong(it)('says what a new password does not affect', async () => {
    await open('Password and second factor');
    const hint = page.getByRole('paragraph').filter({ hasText: 'A new password does not affect' });
    await hint.waitFor();
    const links = hint.getByRole('link');
    await expect.poll(() => links.allTextContents()).toEqual(['API credentials', 'SSH keys']);
    await expect.poll(() => links.first().getAttribute('href')).toBe('/me/api-access');
    await expect.poll(() => links.last().getAttribute('href')).toBe('/me/ssh-keys');
  });

  onlyInLong(it)('turns on the second factor, renews the recovery codes and turns it off', async () => {
    await asSomebodyNew();
    await open('Password and second factor');
    await page.getByRole('button', { name: 'Turn on second factor' }).click();
    const { app, recoveryCodes } = await enrol(page, clock);
    expect(recoveryCodes).toHaveLength(10);
    await expectAccessibleInLong(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download as file' }).click(),
    ]);
    const file = readFileSync(await download.path(), 'utf8');
    expect(file).toContain(owner.email);
    expect(recoveryCodes.filter((code) => !file.includes(code))).toEqual([]);
    await expect.poll(() => page.getByRole('button', { name: 'Continue' }).isEnabled()).toBe(false);
    await keepCodes(page);
    await page.getByText('10 of 10 left').waitFor();

    await page.getByRole('button', { name: 'New recovery codes' }).click();
    await dialog()
      .getByLabel('Code')
      .fill(recoveryCodes[0] ?? '');
    await dialog().getByRole('button', { name: 'Create new codes' }).click();
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await codes.first().waitFor();
    const [fresh = ''] = await codes.allTextContents();
    expect(recoveryCodes).not.toContain(fresh);
    await keepCodes(page);

    await page.getByRole('button', { name: 'Turn off' }).click();
    await dialog()
      .getByLabel('Code')
      .fill(recoveryCodes[1] ?? '');
    await dialog().getByRole('button', { name: 'Turn off' }).click();
    await dialog().getByRole('alert').waitFor();
    await expectAccessibleInLong(page);
    await dialog()
      .getByLabel('Code')
      .fill(await app.code());
    await dialog().getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('button', { name: 'Turn on second factor' }).waitFor();
  });

  onlyInLong(it)('opens the authenticator app of a phone with the secret of the QR code', async () => {
    const phone = await portal.signedIn(await portal.homeport.person(accountId, 'full'), {
      width: 390,
      touch: true,
    });
    await phone.goto('/me/security');
    await phone.getByRole('button', { name: 'Turn on second factor' }).click();
    await phone.getByLabel('Your password').fill(PASSWORD);
    await phone.getByRole('button', { name: 'Continue' }).click();
    const link = phone.getByRole('link', { name: 'Open an authenticator app on this device' });
    await expect.poll(() => link.getAttribute('href')).toMatch(/^otpauth:\/\/totp\/.*secret=[A-Z2-7]+/);
    await expect.poll(() => link.isVisible()).toBe(true);
    await expectBothThemesInLong(phone);
    await phone.context().close();
  });
});

onlyInLong(describe)('API access', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-curl-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  onlyInLong(it)(
    'creates a read-only credential for one install, which works until it is revoked',
    async () => {
      await open('API access');
      const documentation = page.getByRole('link', { name: 'API documentation' });
      await expect.poll(() => documentation.getAttribute('href')).toBe(`${portal.homeport.origin}/docs`);
      await page.getByRole('button', { name: 'New credential' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Monitoring');
      await page.getByLabel('Expires').selectOption('In 30 days');
      await page.getByLabel('Some installs of one account').check();
      await page.getByRole('group', { name: 'Installs' }).getByLabel(install.name, { exact: true }).check();
      await page.getByText('1 of 2 selected').waitFor();
      await expectBothThemesInLong(page);
      await expectRoomWhenNarrow(page);
      await page.getByLabel('Read-only').check();
      await page.getByRole('button', { name: 'Create credential' }).click();
      await page.getByText('The password is not shown again').waitFor();
      await expectAccessibleInLong(page);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download certificate' }).click(),
      ]);
      await download.saveAs(join(folder, download.suggestedFilename()));
      await page.getByRole('button', { name: 'Copy the curl command' }).click();
      const line = await clipboard();
      await page.getByRole('button', { name: 'I have saved the password' }).click();
      await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('New credential');
      const row = table('Your API credentials').getByRole('row', { name: 'Monitoring' });
      await expect.poll(() => row.textContent()).toContain(`${install.name} of An account (read-only)`);
      await expect.poll(() => row.textContent()).toContain('in 30 days');

      const shell = (command: string) => run('sh', ['-c', `${command} --silent`], { cwd: folder });
      expect(JSON.parse((await shell(line)).stdout)).toMatchObject({ email: owner.email });
      const installs = JSON.parse((await shell(line.replace('/v1/user', '/v1/installs'))).stdout);
      expect(installs).toMatchObject({ count: 1, results: [{ name: install.name }] });

      await row.getByRole('button', { name: 'Revoke Monitoring' }).click();
      await expect.poll(() => focused(page)).toBe('Cancel');
      await dialog().getByRole('button', { name: 'Revoke' }).click();
      await table('Revoked and expired credentials').getByText('Monitoring').waitFor();
      await expectAccessibleInLong(page);
      await expectRoomWhenNarrow(page);
      expect(JSON.parse((await shell(line)).stdout)).toEqual({ message: 'Bad Credentials' });
    },
  );
});

onlyInLong(describe)('a password that is shown once', () => {
  const isShown = () => page.getByText('The password is not shown again').isVisible();

  onlyInLong(it)('asks before a link or Back leaves the page', async () => {
    await open('SSH keys');
    await open('API access');
    await page.getByRole('button', { name: 'New credential' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Once');
    await page.getByRole('button', { name: 'Create credential' }).click();
    await page.getByText('The password is not shown again').waitFor();
    await page.getByRole('link', { name: 'Sites' }).click();
    await page.getByRole('alertdialog', { name: 'Leave this page?' }).waitFor();
    await expectAccessibleInLong(page);
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await dialog().waitFor({ state: 'hidden' });
    for (const answer of ['Cancel', 'Leave']) {
      expect(await isShown()).toBe(true);
      await page.goBack();
      await dialog().getByRole('button', { name: answer }).click();
      await dialog().waitFor({ state: 'hidden' });
    }
    await page.getByRole('heading', { name: 'SSH keys', level: 1 }).waitFor();
  });

  onlyInLong(it)('is left after confirmation, and without one after saving it', async () => {
    for (const kept of [true, false]) {
      await open('API access');
      await page.getByRole('button', { name: 'New credential' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Again');
      await page.getByRole('button', { name: 'Create credential' }).click();
      await page.getByText('The password is not shown again').waitFor();
      if (kept) await page.getByRole('button', { name: 'I have saved the password' }).click();
      await page.getByRole('link', { name: 'Sites' }).click();
      if (!kept) await dialog().getByRole('button', { name: 'Leave' }).click();
      await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
      await page.goBack();
      await page.getByRole('heading', { name: 'API access', level: 1 }).waitFor();
      expect(await isShown()).toBe(false);
    }
  });

  onlyInLong(it)('asks before signing out, and goes to the first page if the history is empty', async () => {
    const opened = page.context().waitForEvent('page');
    await page.evaluate('void window.open("/me/api-access", "_blank", "noopener")');
    const tab = await opened;
    await tab.getByRole('button', { name: 'New credential' }).click();
    await tab.getByLabel('Name', { exact: true }).fill('Alone');
    await tab.getByRole('button', { name: 'Create credential' }).click();
    await tab.getByText('The password is not shown again').waitFor();
    await tab.getByRole('button', { name: /: your account$/ }).click();
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByRole('button', { name: 'Cancel' }).click();
    await tab.getByRole('alertdialog').waitFor({ state: 'hidden' });
    await expect.poll(() => tab.getByText('The password is not shown again').isVisible()).toBe(true);
    await tab.goBack();
    await tab.getByRole('button', { name: 'Leave' }).click();
    await tab.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await tab.close();
  });
});

describe('SSH keys', () => {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const line = publicKey().split(' ').slice(0, 2).join(' ');

  onlyInLong(it)('rejects a private key without sending it', async () => {
    await open('SSH keys');
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.postData() ?? ''));
    const refusal = page.getByText('This is a private key.');
    await page.getByLabel('Public key').fill(pem);
    await refusal.waitFor();
    await expect.poll(() => page.getByLabel('Public key').inputValue()).toBe('');
    await page.getByLabel('Public key').fill('something else');
    await refusal.waitFor({ state: 'hidden' });
    await page
      .getByLabel('Or upload the file')
      .setInputFiles({ name: 'id.pub', mimeType: 'text/plain', buffer: Buffer.from(pem) });
    await refusal.waitFor();
    expect(sent.filter((body) => body.includes('PRIVATE'))).toEqual([]);
  });

  it('adds a key from text and from a file, and removes it', async () => {
    await asSomebodyNew();
    await open('SSH keys');
    await page.getByText('You have no SSH keys yet.').waitFor();
    await page.getByLabel('Public key').fill(`${line} ada@laptop\n`);
    await page.getByRole('button', { name: 'Add key' }).click();
    await table('Your SSH keys').getByText('ada@laptop').waitFor();
    const hash = createHash('sha256').update(Buffer.from(line.split(' ')[1] ?? '', 'base64'));
    const fingerprint = hash.digest('base64').replace(/=+$/, '');
    await table('Your SSH keys').getByText(`SHA256:${fingerprint}`).waitFor();
    await page
      .getByLabel('Or upload the file')
      .setInputFiles({ name: 'id.pub', mimeType: 'text/plain', buffer: Buffer.from(`${line} again\n`) });
    await page.getByRole('button', { name: 'Add key' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Remove the key ada@laptop' }).click();
    await dialog().getByRole('button', { name: 'Remove' }).click();
    await page.getByText('You have no SSH keys yet.').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('Your keys');
    await page.getByRole('button', { name: 'Add key' }).click();
    await table('Your SSH keys').getByText('again').waitFor();
    await expect.poll(() => page.getByLabel('Public key').inputValue()).toBe('');
  });

  onlyInLong(it)('shows how to connect to each install', async () => {
    await open('SSH keys');
    await page.getByLabel('Search installs').fill(install.name);
    await page.getByText(install.name, { exact: true }).click();
    await page.getByRole('button', { name: `Copy the SFTP command of ${install.name}` }).click();
    const { port } = portal.homeport.hosting?.ssh ?? {};
    expect(await clipboard()).toBe(`sftp -P ${port} ${install.name}@localhost`);
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
  });

  onlyInLong(it)('shows the commands after visiting an install and going back', async () => {
    await open('SSH keys');
    await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: 'Installs' }).click();
    await page.getByRole('link', { name: install.name, exact: true }).click();
    await page.getByRole('link', { name: 'Access', exact: true }).click();
    await page.getByRole('button', { name: 'Copy the SFTP command' }).waitFor();
    for (const _ of ['to the overview', 'to the installs', 'to the keys']) await page.goBack();
    await page.getByText(install.name, { exact: true }).click();
    await page.getByRole('button', { name: `Copy the SFTP command of ${install.name}` }).waitFor();
  });
});
