import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_SECONDS } from '../../src/lib/durations.ts';
import type { Person } from '../homeport.ts';
import { mailsTo } from '../mails.ts';
import { onlyInLong } from '../rounds.ts';
import {
  expectAccessibleInLong,
  expireSessionsAtNextChange,
  focused,
  focusOnArrival,
  PASSWORD,
  type Portal,
  startPortal,
} from './portal.ts';
import { type Enrolled, enrol, keepCodes, skippingClock } from './second-factor.ts';
import { expectBothThemesInLong } from './themes.ts';

const clock = skippingClock();
let portal: Portal;
beforeAll(async () => {
  portal = await startPortal({ clock });
});
afterEach(() => portal.closePages());
afterAll(() => portal.remove());

async function fillSignIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function choosePassword(page: Page, password: string, repeated = password): Promise<void> {
  await page.getByLabel('Password', { exact: true }).or(page.getByLabel('New password')).fill(password);
  await page.getByLabel('Confirm password').fill(repeated);
}

/** Returns the name of the focused field. */
const focusedField = (page: Page) => page.evaluate('document.activeElement?.getAttribute("name")');

const inPortal = (page: Page) => page.getByRole('banner').waitFor();

/** Returns the path of the link in the latest mail to an address. */
async function linkInMail(email: string): Promise<string> {
  await portal.homeport.idle();
  const text = mailsTo(portal.homeport, email).at(-1)?.text ?? '';
  const [link = ''] = text.match(/https:\/\/\S+/) ?? [];
  return new URL(link).pathname;
}

describe('signing in', () => {
  it('continues to the requested page', async () => {
    const { owner } = await portal.homeport.ownedAccount();
    await portal.homeport.setPassword(owner, PASSWORD);
    const page = await portal.browser();
    await page.goto('/me/ssh-keys');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectBothThemesInLong(page);
    await fillSignIn(page, owner.email.toUpperCase(), PASSWORD);
    await page.getByRole('heading', { name: 'SSH keys', level: 1 }).waitFor();
  });

  it('shows the same error for a wrong password and an unknown user', async () => {
    const { owner } = await portal.homeport.ownedAccount();
    await portal.homeport.setPassword(owner, PASSWORD);
    const page = await portal.browser();
    await page.goto('/');
    const refusal = page.getByRole('alert').filter({ hasText: /./ });
    for (const email of [owner.email, 'nobody@people.example']) {
      await fillSignIn(page, email, 'not the password');
      await refusal.waitFor();
      await expect.poll(() => refusal.textContent()).toBe('Wrong email address or password.');
      await expect.poll(() => page.getByLabel('Email address').inputValue()).toBe(email);
    }
    await expectAccessibleInLong(page);
  });

  onlyInLong(it)('selects a wrong password, which the message describes', async () => {
    const page = await portal.browser();
    await page.goto('/');
    await page.getByLabel('Email address').fill('nobody@people.example');
    await page.getByLabel('Password').fill('not the password');
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/portal/api/session'))
        sent.push(request.url());
    });
    await page.route('**/portal/api/session', async (route) => {
      // Pressed again while the request is pending.
      await page.keyboard.press('Enter');
      await expect
        .poll(() => page.getByRole('button', { name: 'Sign in', exact: true }).getAttribute('aria-busy'))
        .toBe('true');
      await route.continue();
    });
    await page.getByLabel('Password').press('Enter');
    await page.getByRole('alert').getByText('Wrong email address or password.').waitFor();
    await expect.poll(() => focusedField(page)).toBe('password');
    const selected = '(({ selectionStart, selectionEnd }) => selectionEnd - selectionStart)';
    expect(await page.evaluate(`${selected}(document.activeElement)`)).toBe('not the password'.length);
    const message = 'document.getElementById(document.activeElement.getAttribute("aria-describedby"))';
    expect(await page.evaluate(`${message}.textContent`)).toBe('Wrong email address or password.');
    expect(sent).toHaveLength(1);
  });
});

describe('the second factor', () => {
  let owner: Person;
  let enrolled: Enrolled;
  beforeAll(async () => {
    ({ owner } = await portal.homeport.ownedAccount());
    const page = await portal.signedIn(owner, { at: '/me/security' });
    await page.getByRole('button', { name: 'Turn on second factor' }).click();
    enrolled = await enrol(page, clock);
  });

  it('is required after the password: a code or a recovery code', async () => {
    const { app, recoveryCodes } = enrolled;
    const other = await portal.browser();
    const takesFocus = await focusOnArrival(other, 'document.querySelector("input[name=code]")');
    await other.goto('/me/security');
    await fillSignIn(other, owner.email, PASSWORD);
    await other.getByRole('heading', { name: 'Second factor' }).waitFor();
    expect(await takesFocus()).toBe(true);
    await expectBothThemesInLong(other);
    await expect
      .poll(() => other.evaluate('document.activeElement?.getAttribute("autocomplete")'))
      .toBe('one-time-code');
    const code = await app.code();
    await other.keyboard.type(code);
    await other.keyboard.press('Enter');
    await other.getByRole('heading', { name: 'Password and second factor' }).waitFor();

    const third = await portal.browser();
    await third.goto('/');
    await fillSignIn(third, owner.email, PASSWORD);
    await third.getByLabel('Six-digit code').fill(code);
    await third.getByRole('button', { name: 'Continue' }).click();
    await third.getByText('The code is wrong or was used before.').waitFor();
    await third.getByRole('button', { name: 'Use a recovery code' }).click();
    await third.getByLabel('Recovery code').fill(`  ${recoveryCodes[0]?.toUpperCase().replaceAll('-', ' ')}`);
    await third.getByRole('button', { name: 'Continue' }).click();
    await inPortal(third);
    await third.goto('/me/security');
    await third.getByText('9 of 10 left').waitFor();

    // Both steps again when the session ends, above a page that stays.
    await third.goto('/me/profile');
    await third.getByLabel('Phone number').fill('555 0100');
    await expireSessionsAtNextChange(third, portal, owner);
    await third.getByRole('button', { name: 'Save' }).click();
    const layer = third.getByRole('alertdialog', { name: 'Sign in again' });
    await layer.getByLabel('Password').fill(PASSWORD);
    await layer.getByRole('button', { name: 'Sign in', exact: true }).click();
    await layer.getByLabel('Six-digit code').fill(await app.code());
    await expectBothThemesInLong(third);
    await layer.getByRole('button', { name: 'Continue' }).click();
    await third.getByText('Your session had expired').waitFor();
    expect(await third.getByLabel('Phone number').inputValue()).toBe('555 0100');
  });

  onlyInLong(it)(
    'returns to the sign-in page after too many wrong codes, and lets another user sign in',
    async () => {
      // Attempts of earlier tests count for one hour.
      clock.skip(HOUR_SECONDS);
      const other = await portal.browser();
      await other.goto('/me/profile');
      await fillSignIn(other, owner.email, PASSWORD);
      await other.getByRole('button', { name: 'Sign in as another user' }).click();
      await fillSignIn(other, owner.email, PASSWORD);
      const said = other.getByText(/^The code is wrong|^It took too long/);
      for (let wrong = 1; wrong <= 5; wrong++) {
        await other.getByLabel('Six-digit code').fill('000000');
        const answered = other.waitForResponse(/second_factor$/);
        await other.getByRole('button', { name: 'Continue' }).click();
        await answered;
        await said.waitFor();
      }
      await other.getByRole('heading', { name: 'Sign in' }).waitFor();
      await expect.poll(() => said.textContent()).toContain('too many codes were wrong');
      expect(new URL(other.url()).pathname).toBe('/me/profile');
    },
  );

  onlyInLong(it)('must be set up first if an account requires it', async () => {
    const { homeport } = portal;
    const { owner, accountId } = await homeport.ownedAccount();
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('accounts')
        .set({ requires_second_factor: true, name: 'Careful' })
        .where('id', '=', accountId)
        .execute(),
    );
    await homeport.setPassword(owner, PASSWORD);
    const page = await portal.browser();
    await page.clock.install();
    await page.goto(`/accounts/${accountId}/people`);
    await fillSignIn(page, owner.email, PASSWORD);
    await page.getByText('The account Careful requires a second factor').waitFor();
    await expectBothThemesInLong(page);
    await enrol(page, clock);
    // The codes are still shown when the user returns after a minute.
    await page.clock.fastForward(60_000);
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
    await expectBothThemesInLong(page);
    await keepCodes(page);
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
  });
});

describe('an invitation', () => {
  it('lets a new user choose a password, once, and signs them in', async () => {
    const { owner, accountId } = await portal.homeport.ownedAccount();
    const email = 'ada@people.example';
    await owner.client.post(`/accounts/${accountId}/account_users`, {
      user: { account_id: accountId, first_name: 'Ada', last_name: 'Byron', email, roles: 'full' },
    });
    const link = await linkInMail(email);
    const page = await portal.browser();
    const takesFocus = await focusOnArrival(page, 'document.querySelector("input[name=password]")');
    await page.goto(link);
    await page.getByText('You are invited to join the account An account').waitFor();
    expect(await takesFocus()).toBe(true);
    await expectBothThemesInLong(page);
    await choosePassword(page, PASSWORD, 'another one altogether');
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await page.getByText('The passwords do not match').waitFor();
    await page.getByRole('alert').getByText('Check the marked field.').waitFor();
    await choosePassword(page, PASSWORD);
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await inPortal(page);
    await page.getByText('Your password is set.').waitFor();

    await page.goto(link);
    await page.getByText('Ask the person who invited you for a new invitation.').waitFor();
    await expectBothThemesInLong(page);
  });

  onlyInLong(it)('is accepted with one click by an existing user', async () => {
    const { homeport } = portal;
    const { owner: known } = await homeport.ownedAccount();
    const page = await portal.signedIn(known);
    const { owner, accountId } = await homeport.ownedAccount();
    await owner.client.post(`/accounts/${accountId}/account_users`, {
      user: {
        account_id: accountId,
        first_name: 'Known',
        last_name: 'Person',
        email: known.email,
        roles: 'full',
      },
    });
    await page.goto(await linkInMail(known.email));
    await expect.poll(() => focused(page)).toBe('Accept invitation');
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await inPortal(page);
    await page.getByRole('button', { name: /Switch account$/ }).waitFor();
  });
});

onlyInLong(describe)('an unwanted invitation', () => {
  onlyInLong(it)('is declined after confirmation, and its link stops working', async () => {
    const { owner, accountId } = await portal.homeport.ownedAccount();
    const email = 'bea@people.example';
    const user = { account_id: accountId, first_name: 'Bea', last_name: 'Busy', email, roles: 'full' };
    await owner.client.post(`/accounts/${accountId}/account_users`, { user });
    const link = await linkInMail(email);
    const page = await portal.browser();
    await page.goto(link);
    await page.getByRole('button', { name: 'Decline', exact: true }).click();
    await expectAccessibleInLong(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => focused(page)).toBe('Decline');
    await page.getByRole('button', { name: 'Decline', exact: true }).click();
    await page.getByRole('button', { name: 'Decline invitation' }).click();
    await page.getByText('You declined the invitation').waitFor();
    await page.getByText('You did not join the account An account').waitFor();
    await expect.poll(() => focused(page)).toContain('You declined');
    await expectAccessibleInLong(page);
    const { body } = await owner.client.get(`/accounts/${accountId}/account_users`);
    expect(JSON.stringify(body)).not.toContain(email);
    await page.goto(link);
    await page.getByText('This link does not work').waitFor();
  });
});

onlyInLong(describe)('a link of the first start or of the command line', () => {
  it('lets a user choose their first password', async () => {
    const { owner } = await portal.homeport.ownedAccount();
    const link = await portal.homeport.services.passwords.createLink(owner.userId, 'first');
    const page = await portal.browser({ width: 360 });
    await page.goto(new URL(link).pathname);
    await page.getByText('Welcome. Choose a password').waitFor();
    await expect.poll(() => focusedField(page)).toBe('password');
    await expect.poll(() => page.getByLabel('Also revoke my API credentials').count()).toBe(0);
    await choosePassword(page, 'password1234');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('This password is easy to guess').waitFor();
    await choosePassword(page, PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await inPortal(page);
    await page.getByText('Your password is set.').waitFor();
    await page.goto(new URL(link).pathname);
    await page.getByText('This link does not work').waitFor();
  });

  onlyInLong(it)('does not sign in a user with a second factor without a code', async () => {
    const { owner } = await portal.homeport.ownedAccount();
    const own = await portal.signedIn(owner, { at: '/me/security' });
    await own.getByRole('button', { name: 'Turn on second factor' }).click();
    const { app } = await enrol(own, clock);
    const link = await portal.homeport.services.passwords.createLink(owner.userId, 'first');
    const page = await portal.browser();
    await page.goto(new URL(link).pathname);
    await choosePassword(page, 'quite another password');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByLabel('Six-digit code').fill(await app.code());
    await page.getByRole('button', { name: 'Continue' }).click();
    await inPortal(page);
  });

  onlyInLong(it)('leads to the sign-in page if signing in is refused', async () => {
    const { owner } = await portal.homeport.ownedAccount();
    const link = await portal.homeport.services.passwords.createLink(owner.userId, 'first');
    const page = await portal.browser();
    await page.goto(new URL(link).pathname);
    await choosePassword(page, PASSWORD);
    await page.route('**/portal/api/session', (route) =>
      route.request().method() === 'POST' ? route.abort() : route.continue(),
    );
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Your password is set. Sign in with it.').waitFor();
    await expect.poll(() => page.getByLabel('Email address').inputValue()).toBe(owner.email);
    await expect.poll(() => focusedField(page)).toBe('password');
    await page.unroute('**/portal/api/session');
    await fillSignIn(page, owner.email, PASSWORD);
    await inPortal(page);
  });
});

describe('a forgotten password', () => {
  it('is reset by a link in an email', async () => {
    const { owner } = await portal.homeport.ownedAccount();
    const page = await portal.signedIn(owner);
    const other = await portal.browser();
    await other.goto('/');
    await other.getByRole('link', { name: 'Forgot your password?' }).click();
    await other.getByLabel('Email address').fill(owner.email);
    await expectBothThemesInLong(other);
    await other.getByRole('button', { name: 'Send link' }).click();
    await other.getByText('Check your email').waitFor();
    await expect.poll(() => focused(other)).toContain('Check your email');

    const link = await linkInMail(owner.email);
    await other.goto(link);
    await other.getByText('Choose a new password').waitFor();
    await expectBothThemesInLong(other);
    await choosePassword(other, 'quite another password');
    await expect.poll(() => other.getByLabel('Also revoke my API credentials').isChecked()).toBe(false);
    await other.getByLabel('Also revoke my API credentials').check();
    await other.getByRole('button', { name: 'Set password' }).click();
    await inPortal(other);
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await owner.client.get('/user')).status).toBe(401);

    await other.goto(link);
    await other.getByText('This link does not work').waitFor();
  });

  onlyInLong(it)('gets the same response for an unknown address', async () => {
    const page = await portal.browser();
    await page.goto('/forgotten-password');
    await page.getByLabel('Email address').fill('nobody@people.example');
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByText('Check your email').waitFor();
    await portal.homeport.idle();
    expect(mailsTo(portal.homeport, 'nobody@people.example')).toEqual([]);
  });
});
