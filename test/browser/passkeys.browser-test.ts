import type { CDPSession, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { mailsTo } from '../mails.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { expectAccessibleInLong, focusOnArrival, PASSWORD, type Portal, startPortal } from './portal.ts';
import { keepCodes } from './second-factor.ts';
import { expectBothThemesInLong } from './themes.ts';

let portal: Portal;
beforeAll(async () => {
  portal = await startPortal();
});
afterEach(() => portal.closePages());
afterAll(() => portal.remove());

/** Gives the browser of a page a password manager in software, which holds passkeys of all its pages. */
async function passwordManager(page: Page): Promise<{ cdp: CDPSession; authenticatorId: string }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}

const table = (page: Page) => page.getByRole('table', { name: 'Your passkeys' });
const inPortal = (page: Page) => page.getByRole('banner').waitFor();

/** Signs out by ending the session, and opens the sign-in page. */
async function signOut(page: Page): Promise<void> {
  await page.context().clearCookies();
  await page.goto('/me/security');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

it('a passkey is added, renamed and removed, and signs in alone and after the password', async () => {
  const { owner } = await portal.homeport.ownedAccount();
  const page = await portal.signedIn(owner, { at: '/me/security' });
  const { cdp, authenticatorId } = await passwordManager(page);
  const present = (enabled: boolean) =>
    cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });

  await page.getByText('You have no passkeys yet.').waitFor();
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await expectBothThemesInLong(page);
  await page.getByLabel('Your password').fill('not the password');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('The password is wrong').waitFor();
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Continue' }).click();
  const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await codes.first().waitFor();
  const [recoveryCode = ''] = await codes.allTextContents();
  await expectAccessibleInLong(page);
  await keepCodes(page);
  await table(page).getByText('Chrome on Linux').waitFor();
  await page.getByText('10 of 10 left').waitFor();
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);

  await page.getByRole('button', { name: 'Actions for Chrome on Linux' }).click();
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await table(page).getByText('Laptop').waitFor();

  // With the button. The virtual password manager would answer suggestions at once that the page asks for later than this.
  await present(false);
  const suggested = page.waitForResponse(/\/session\/passkey\/options$/);
  await signOut(page);
  await suggested;
  const button = page.getByRole('button', { name: 'Sign in with a passkey' });
  await expectBothThemesInLong(page);
  await present(true);
  await button.click();
  await page.getByRole('heading', { name: 'Password and second factor' }).waitFor();

  // By the suggestions of the field, without a click.
  const signedIn = page.waitForResponse(/\/session\/passkey$/);
  await page.context().clearCookies();
  await page.goto('/me/security');
  expect((await signedIn).status()).toBe(200);
  await page.getByRole('heading', { name: 'Password and second factor' }).waitFor();

  // After the password.
  await present(false);
  const takesFocus = await focusOnArrival(
    page,
    '[...document.querySelectorAll("button")].find((button) => button.textContent === "Continue with a passkey")',
  );
  await signOut(page);
  await page.getByLabel('Email address').fill(owner.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  const second = page.getByRole('button', { name: 'Continue with a passkey' });
  await second.waitFor();
  expect(await takesFocus()).toBe(true);
  await expectBothThemesInLong(page);
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await present(true);
  await second.click();
  await page.getByText('No passkey was used.').waitFor();
  await expectAccessibleInLong(page);
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
  await second.click();
  await inPortal(page);

  await page.goto('/me/security');
  await page.getByRole('button', { name: 'Actions for Laptop' }).click();
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('It is your only second factor.').waitFor();
  await expectBothThemesInLong(page);
  await page.getByRole('button', { name: 'Confirm with a passkey' }).click();
  await page.getByText('Removed the passkey Laptop.').waitFor();
  await page.getByRole('button', { name: 'Turn on second factor' }).waitFor();
  expect(recoveryCode).not.toBe('');

  // The removed passkey is still in the password manager.
  await signOut(page);
  await page.getByText('This passkey does not sign in here.').waitFor();
  await present(false);
  await portal.homeport.idle();
  const subjects = mailsTo(portal.homeport, owner.email).map(({ subject }) => subject);
  expect(subjects.sort()).toEqual(['A passkey was added', 'Your last passkey was removed']);
});

onlyInLong(it)('a passkey is enough for an account that requires a second factor', async () => {
  const { owner, accountId } = await portal.homeport.ownedAccount();
  await portal.homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('accounts')
      .set({ requires_second_factor: true })
      .where('id', '=', accountId)
      .execute(),
  );
  await portal.homeport.setPassword(owner, PASSWORD);
  const page = await portal.browser({ width: 390 });
  await passwordManager(page);
  await page.goto('/me/profile');
  await page.getByLabel('Email address').fill(owner.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Use a passkey instead' }).click();
  await page.getByLabel('Your password').fill(PASSWORD);
  await expectBothThemesInLong(page);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('list', { name: 'Recovery codes' }).waitFor();
  await keepCodes(page);
  await page.getByRole('heading', { name: 'Profile', level: 1 }).waitFor();

  // A change that takes the password and a second factor.
  await page.getByLabel('New email address').fill('ada@people.example');
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Send confirmation link' }).click();
  await page.getByText('We sent a link to ada@people.example').waitFor();
});

onlyInLong(it)('a portal at an IP address says why it offers no passkeys', async () => {
  const { owner } = await portal.homeport.ownedAccount();
  const page = await portal.signedIn(owner);
  await page.route('**/portal/api/passkeys', (route) =>
    route.fulfill({ json: { available: false, results: [] } }),
  );
  await page.goto('/me/security');
  await page.getByText('This portal is at an IP address').waitFor();
  await expectBothThemesInLong(page);
  await expect.poll(() => page.getByRole('button', { name: 'Add passkey' }).count()).toBe(0);
});
