import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import {
  expireSessions,
  expireSessionsAtNextChange,
  focused,
  PASSWORD,
  type Portal,
  startPortal,
} from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

describe('a session that ends', () => {
  let portal: Portal;
  let owner: Person;
  let accountId: string;
  beforeAll(async () => {
    portal = await startPortal();
    ({ owner, accountId } = await portal.homeport.ownedAccount());
  });
  afterEach(() => portal.closePages());
  afterAll(() => portal.remove());

  it('asks to sign in again when the session expires, and keeps the page for its user', async () => {
    const page = await portal.signedIn(owner);
    const address = `/accounts/${accountId}/installs?site=none`;
    const layer = page.getByRole('alertdialog', { name: 'Sign in again' });
    const dialog = page.getByRole('dialog');
    const create = dialog.getByRole('button', { name: 'Create install' });
    const typeAndLoseSession = async (name: string) => {
      await page.goto(address);
      await page.getByRole('button', { name: 'Create install' }).click();
      await dialog.getByLabel('Name').fill(name);
      await expireSessionsAtNextChange(page, portal, owner);
      await create.click();
      await layer.getByText('Your session has expired. Sign in again.').waitFor();
    };
    const signIn = async () => {
      await layer.getByLabel('Password').fill(PASSWORD);
      await layer.getByRole('button', { name: 'Sign in', exact: true }).click();
    };

    await page.setViewportSize({ width: 390, height: 800 });
    await typeAndLoseSession('unsent');
    await expect.poll(() => page.evaluate('document.activeElement?.name')).toBe('password');
    // The page is out of sight and reach.
    expect(await dialog.count()).toBe(0);
    expect(await page.getByText('Create install').first().isVisible()).toBe(false);
    await expectRoomWhenNarrow(page);
    await expectBothThemesInLong(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    const asClosed = `document.querySelector('dialog[open]').close();
      getComputedStyle(document.querySelector('#sidebar')).visibility`;
    expect(await page.evaluate(asClosed)).toBe('hidden');
    await signIn();
    await dialog.getByText('Your session had expired').waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('unsent');
    await expect.poll(() => focused(page)).toContain('Your session had expired');
    expect(await layer.count()).toBe(0);
    expect(page.url()).toBe(`${portal.homeport.origin}${address}`);
    await expect.poll(() => page.title()).toMatch(/^Installs/);
    await create.click();
    await page.getByRole('heading', { name: 'unsent', level: 1 }).waitFor();

    const { owner: next } = await portal.homeport.ownedAccount();
    await portal.homeport.setPassword(next, PASSWORD);
    await typeAndLoseSession('secret');
    await layer.getByLabel('Email address').fill(next.email);
    await signIn();
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect(await page.locator('input').count()).toBe(0);
    expect(await page.content()).not.toContain(owner.email);
  });

  /** Opens a form in two windows of one browser, and lets the session expire. */
  async function hiddenWindows(): Promise<[Page, Page]> {
    const one = await portal.signedIn(owner, { at: '/me/profile' });
    const two = await one.context().newPage();
    await two.goto('/me/profile');
    for (const page of [one, two]) await page.getByLabel('Phone number').fill('555 0100');
    await expireSessions(portal, owner);
    for (const page of [one, two]) await layerOf(page).waitFor();
    return [one, two];
  }
  const layerOf = (page: Page) => page.getByRole('alertdialog', { name: 'Sign in again' });
  /** Waits until the page of the former user is gone, and not only hidden. */
  async function expectRemoved(page: Page): Promise<void> {
    await page.locator('#sidebar').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await layerOf(page).count()).toBe(0);
    expect(await page.content()).not.toContain(owner.email);
  }

  onlyInLong(it)('removes the page when its session is ended elsewhere', async () => {
    const page = await portal.signedIn(owner, { at: '/me/profile' });
    await page.getByLabel('Phone number').fill('555 0100');
    const elsewhere = await portal.signedIn(owner);
    const { origin } = portal.homeport;
    await elsewhere.request.delete('/portal/api/sessions', { headers: { origin } });
    await expectRemoved(page);
    await page.getByText('You were signed out. Sign in again.').waitFor();
  });

  onlyInLong(it)(
    'keeps the page if another window renews the cookie while the session is requested',
    async () => {
      const page = await portal.signedIn(owner, { at: '/me/profile' });
      await page.getByLabel('Phone number').fill('555 0100');
      const { origin } = portal.homeport;
      let answered = 0;
      await page.route('**/portal/api/session', async (route) => {
        answered += 1;
        // Sent with the former cookie, because the response with the new one is still on its way.
        if (answered > 1) return route.continue();
        await route.fulfill({ status: 401, json: { message: 'Authentication required' } });
      });
      await page.route('**/portal/api/profile', (route) =>
        route.fulfill({ status: 401, json: { message: 'Authentication required' } }),
      );
      await page.request.delete('/portal/api/sessions', { headers: { origin } });
      await page.getByRole('button', { name: 'Save' }).click();
      await layerOf(page).waitFor();
      await layerOf(page).waitFor({ state: 'detached' });
      expect(answered).toBeGreaterThan(1);
      expect(await page.getByLabel('Phone number').inputValue()).toBe('555 0100');
    },
  );

  onlyInLong(it)('removes hidden pages of all windows when another user signs in', async () => {
    const [one, two] = await hiddenWindows();
    await layerOf(one).getByRole('button', { name: 'Sign in as another user' }).click();
    for (const page of [one, two]) await expectRemoved(page);

    const [three, four] = await hiddenWindows();
    const { owner: next } = await portal.homeport.ownedAccount();
    await portal.homeport.setPassword(next, PASSWORD);
    await layerOf(three).getByLabel('Email address').fill(next.email);
    await layerOf(three).getByLabel('Password').fill(PASSWORD);
    await layerOf(three).getByRole('button', { name: 'Sign in', exact: true }).click();
    for (const page of [three, four]) {
      await page.getByRole('button', { name: /your account$/ }).waitFor();
      expect(await page.content()).not.toContain(owner.email);
    }
  });

  async function signOut(page: Page): Promise<void> {
    await page.getByRole('button', { name: /your account$/ }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
  }

  onlyInLong(it)(
    'shows the pages of all windows again after their user signed in, and removes them after a sign-out',
    async () => {
      const [one, two] = await hiddenWindows();
      await layerOf(one).getByLabel('Password').fill(PASSWORD);
      await layerOf(one).getByRole('button', { name: 'Sign in', exact: true }).click();
      for (const page of [one, two]) {
        await layerOf(page).waitFor({ state: 'detached' });
        expect(await page.getByLabel('Phone number').inputValue()).toBe('555 0100');
      }
      await signOut(one);
      // The telephone number is not saved.
      await one.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
      for (const page of [one, two]) await expectRemoved(page);
    },
  );

  onlyInLong(it)('requests the session a few times when the user of six windows changes', async () => {
    const pages = [await portal.signedIn(owner, { at: '/me/profile' })];
    const [first] = pages;
    if (first === undefined) throw new Error('no window');
    for (let left = 5; left > 0; left -= 1) {
      const page = await first.context().newPage();
      await page.goto('/me/profile');
      await page.getByLabel('Phone number').waitFor();
      pages.push(page);
    }
    let requests = 0;
    first.context().on('request', (request) => {
      if (request.method() === 'GET' && request.url().endsWith('/portal/api/session')) requests += 1;
    });
    await signOut(first);
    for (const page of pages) await expectRemoved(page);

    const { owner: next } = await portal.homeport.ownedAccount();
    await portal.homeport.setPassword(next, PASSWORD);
    await first.getByLabel('Email address').fill(next.email);
    await first.getByLabel('Password').fill(PASSWORD);
    await first.getByRole('button', { name: 'Sign in', exact: true }).click();
    for (const page of pages) await page.getByRole('button', { name: /your account$/ }).waitFor();
    // A storm would still grow.
    await first.waitForTimeout(1_000);
    expect(requests).toBeLessThanOrEqual(3 * pages.length);
  });

  onlyInLong(it)(
    'hides the page of a session that was ended elsewhere while a rate limit refuses to tell',
    async () => {
      const page = await portal.signedIn(owner, { at: '/me/profile' });
      await page.route('**/portal/api/session', (route) =>
        route.fulfill({
          status: 429,
          headers: { 'retry-after': '60' },
          json: { message: 'Too many requests' },
        }),
      );
      const elsewhere = await portal.signedIn(owner);
      const { origin } = portal.homeport;
      await elsewhere.request.delete('/portal/api/sessions', { headers: { origin } });
      await page.getByLabel('Phone number').fill('555 0100');
      await page.getByRole('button', { name: 'Save' }).click();
      await layerOf(page).waitFor();
      await page.getByText('Checking your session').waitFor();
      expect(await page.getByText('Phone number').isVisible()).toBe(false);
      await page.unroute('**/portal/api/session');
      await expectRemoved(page);
    },
  );

  onlyInLong(it)(
    'shows the errors of a hidden page once its user has signed in again, and not to another user',
    async () => {
      const { owner: next } = await portal.homeport.ownedAccount();
      await portal.homeport.setPassword(next, PASSWORD);
      for (const { email } of [owner, next]) {
        const page = await portal.signedIn(owner, { at: '/me/profile' });
        const { promise: released, resolve: release } = Promise.withResolvers<void>();
        await page.route('**/portal/api/session', async (route) => {
          if (route.request().method() !== 'DELETE') return route.fallback();
          await released;
          await route.abort();
        });
        await signOut(page);
        await expireSessions(portal, owner);
        await layerOf(page).getByLabel('Password').waitFor();
        const failed = page.waitForEvent('requestfailed');
        release();
        await failed;
        await layerOf(page).getByLabel('Email address').fill(email);
        await layerOf(page).getByLabel('Password').fill(PASSWORD);
        const failure = page.getByText('The server cannot be reached');
        expect(await failure.count()).toBe(0);
        await layerOf(page).getByRole('button', { name: 'Sign in', exact: true }).click();
        await layerOf(page).waitFor({ state: 'detached' });
        if (email === owner.email) await failure.waitFor();
        else expect(await failure.count()).toBe(0);
      }
    },
  );
});
