import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import type { Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import {
  expectAccessibleInLong,
  focused,
  PASSWORD,
  type Portal,
  pressEscape,
  startPortal,
} from './portal.ts';

/** Holds back responses of an address until the test releases them one by one. */
async function holdBack(page: Page, address: string, method?: string) {
  const held: (() => Promise<void>)[] = [];
  await page.route(address, async (route) => {
    if (method !== undefined && route.request().method() !== method) return route.fallback();
    const response = await route.fetch();
    held.push(() => route.fulfill({ response }));
  });
  return { count: () => held.length, releaseFirst: () => held.shift()?.() };
}

describe('the portal', () => {
  let portal: Portal;
  let owner: Person;
  let accountId: string;
  beforeAll(async () => {
    portal = await startPortal();
    ({ owner, accountId } = await portal.homeport.ownedAccount());
  });
  afterEach(() => portal.closePages());
  afterAll(() => portal.remove());

  it('contacts only its own server, runs no inline script, and logs nothing to the console', async () => {
    const page = await portal.browser();
    const asked: string[] = [];
    const logged: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).origin));
    page.on('console', (message) => logged.push(message.text()));
    page.on('pageerror', (error) => logged.push(error.message));
    const answer = await page.goto('/');
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    expect(new Set(asked)).toEqual(new Set([portal.homeport.origin]));
    expect(answer?.headers()['content-security-policy']).not.toContain('unsafe');
    // The browser logs the 401 of the session request.
    expect(logged.filter((line) => !line.includes('401'))).toEqual([]);
  });

  it('has one font of its own, in 14 px with figures of one width', async () => {
    const page = await portal.browser();
    const fonts: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'font') fonts.push(new URL(request.url()).pathname);
    });
    await page.goto('/');
    const style = (selector: string, property: string) =>
      page.evaluate(
        `getComputedStyle(document.querySelector("${selector}")).getPropertyValue("${property}")`,
      );
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    await expect.poll(() => page.evaluate('document.fonts.check("14px Inter")')).toBe(true);
    expect(fonts).toHaveLength(1);
    const file = readFileSync(join(inject('portalFolder'), fonts[0] ?? ''));
    expect(file.length).toBeLessThan(50_000);
    expect(await style('p, label', 'font-size')).toBe('14px');
    expect(await style('p, label', 'font-variant-numeric')).toBe('tabular-nums');
    expect(await style('button', 'font-weight')).toBe('500');
  });

  onlyInLong(it)('shows its frame before any script has run, and requests the session once', async () => {
    const page = await portal.signedIn(owner);
    const scripts = '**/portal/assets/*.js';
    await page.route(scripts, (route) => route.abort());
    await page.goto('/');
    await page.getByText('Homeport', { exact: true }).waitFor();
    await page.getByRole('progressbar', { name: 'Loading' }).waitFor();
    await expect.poll(() => page.getByRole('banner').count()).toBe(0);
    await expectRoomWhenNarrow(page);

    await page.unroute(scripts);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const times = (path: string) => asked.filter((one) => one === path).length;
    await page.goto(`/accounts/${accountId}/sites`);
    await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
    // The stream of changes is open, which made the page load its data again.
    await owner.client.post('/sites', { name: 'Made meanwhile', account_id: accountId });
    await page.getByRole('link', { name: 'Made meanwhile' }).waitFor();
    expect(times('/portal/api/session')).toBe(1);
  });

  onlyInLong(it)(
    'loads at most 90 kB of compressed script for each first page, and requests nothing twice',
    async () => {
      const pages = [
        ['Sign in', null],
        ...['Home', 'Sites', 'Installs'].map((title) => [title, title.toLowerCase()] as const),
      ] as const;
      for (const [title, place] of pages) {
        const page =
          place === null ? await portal.browser() : await portal.signedIn(owner, { at: '/me/profile' });
        await page.goto('about:blank');
        // Once it is open, pages load their data again.
        await page.route('**/portal/api/events*', (route) => route.abort());
        const scripts = new Set<string>();
        const asked: string[] = [];
        page.on('request', (request) => {
          const { pathname, search } = new URL(request.url());
          if (request.resourceType() === 'script') scripts.add(pathname);
          else if (request.resourceType() === 'fetch' && !pathname.endsWith('/events'))
            asked.push(pathname + search);
        });
        await page.goto(place === null ? '/' : `/accounts/${accountId}/${place}`);
        await page.getByRole('heading', { level: 1, name: title }).waitFor();
        await expect.poll(() => page.getByRole('progressbar').count(), { message: title }).toBe(0);
        // Browsers get them compressed with Brotli.
        const sizes = [...scripts].map(
          (path) => brotliCompressSync(readFileSync(join(inject('portalFolder'), path))).length,
        );
        expect(
          sizes.reduce((sum, size) => sum + size, 0),
          title,
        ).toBeLessThan(90_000);
        expect(asked, title).toContain('/portal/api/session');
        expect(asked, title).toEqual([...new Set(asked)]);
      }
    },
  );

  it('is usable by keyboard alone', async () => {
    const page = await portal.signedIn(owner);
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Skip to content' }).press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('content');
    await page.getByRole('button', { name: /your account$/ }).press('Enter');
    await page.getByRole('link', { name: 'SSH keys' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => focused(page)).toBe('Notifications');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'SSH keys' }).waitFor({ state: 'hidden' });
    await expectAccessibleInLong(page);
  });

  onlyInLong(it)('has a sidebar beside the page, which narrow screens show on request', async () => {
    const page = await portal.signedIn(owner, { at: `/accounts/${accountId}/people` });
    const banner = page.getByRole('banner');
    const main = page.getByRole('main');
    await page.getByRole('table', { name: 'People' }).waitFor();
    const overhang = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    for (const width of [320, 390, 768, 959, 960, 1024, 1440, 2560]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(overhang), `${width} px`).toBe(0);
      const [beside, frame] = [await main.boundingBox(), await banner.boundingBox()];
      // One row at the top, or a column at the side.
      if (width < 960) expect(frame?.height, `${width} px`).toBeLessThan(60);
      else expect(beside?.x, `${width} px`).toBe(frame?.width);
      expect(beside?.y, `${width} px`).toBe(width < 960 ? frame?.height : 0);
    }
    const docs = await page.getByRole('link', { name: /^Documentation/ }).getAttribute('href');
    const answer = await page.request.get(`/${docs}`);
    expect(answer.status()).toBe(200);

    await page.setViewportSize({ width: 390, height: 800 });
    const places = page.getByRole('navigation', { name: 'Account' });
    const menu = page.getByRole('button', { name: 'Menu' });
    await places.waitFor({ state: 'hidden' });
    // What gets the focus scrolls to below the header.
    const padding = 'getComputedStyle(document.documentElement).scrollPaddingTop';
    const height = 'document.querySelector("header").offsetHeight';
    await expect.poll(() => page.evaluate(padding)).toBe(`${await page.evaluate(height)}px`);
    await menu.press('Enter');
    await places.waitFor();
    // The page below it is out of reach.
    await expect.poll(() => main.getAttribute('inert')).toBe('');
    await expectAccessibleInLong(page);
    await page.getByRole('button', { name: /your account$/ }).press('Enter');
    await page.getByRole('link', { name: 'SSH keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'SSH keys' }).waitFor({ state: 'hidden' });
    await places.waitFor();
    await page.keyboard.press('Escape');
    await places.waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate('document.activeElement?.getAttribute("aria-label")')).toBe('Menu');
    await menu.press('Enter');
    await places.getByRole('link', { name: 'Usage' }).press('Enter');
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    await places.waitFor({ state: 'hidden' });
    await menu.press('Enter');
    await places.getByRole('link', { name: 'Usage' }).press('Enter');
    await places.waitFor({ state: 'hidden' });
    await menu.click();
    await page.getByRole('button', { name: 'Search' }).click();
    await pressEscape(page);
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await places.waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    await expect.poll(() => main.getAttribute('inert')).toBe(null);
  });

  it('signs out and ends the session', async () => {
    const page = await portal.signedIn(owner);
    const cookies = await page.context().cookies();
    const cookie = cookies.find(({ name }) => name === '__Host-homeport-session');
    expect(cookie).toMatchObject({
      httpOnly: true,
      secure: true,
      sameSite: 'Lax',
      path: '/',
    });
    await page.getByRole('button', { name: /your account$/ }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    const again = await page.request.get('/v1/user', {
      headers: { cookie: `${cookie?.name}=${cookie?.value}` },
    });
    expect(again.status()).toBe(401);
  });

  onlyInLong(it)('shows a failed sign-out and stays usable', async () => {
    const page = await portal.signedIn(owner);
    // The last part of the page, so that nothing of it fails for want of a connection.
    await page.getByRole('heading', { name: 'Recent activity' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('button', { name: /your account$/ }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('The server cannot be reached.').waitFor();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  });

  onlyInLong(it)(
    'keeps an error until it is dismissed, and loads a failed page once the server is reachable',
    async () => {
      const page = await portal.signedIn(owner);
      // The last part of the page, so that nothing of it fails for want of a connection.
      await page.getByRole('heading', { name: 'Recent activity' }).waitFor();
      await page.context().setOffline(true);
      await page.getByRole('button', { name: /your account$/ }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Dismiss this message' }).press('Enter');
      await page.getByText('The server cannot be reached.').waitFor({ state: 'hidden' });
      await expect.poll(() => page.evaluate('document.activeElement?.tagName')).not.toBe('BODY');
      await page.getByRole('button', { name: /your account$/ }).click();
      await page.getByRole('link', { name: 'SSH keys' }).click();
      await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
      await expectAccessibleInLong(page);
      await page.context().setOffline(false);
      await page.getByRole('heading', { name: 'SSH keys', level: 1 }).waitFor();
    },
  );

  it('keeps typed text and errors in a dialog', async () => {
    const { services } = portal.homeport;
    const site = await services.sites.create(operatorFor(owner.userId), {
      name: 'Kept',
      account_id: accountId,
    });
    const page = await portal.signedIn(owner, { at: `/sites/${site.id}` });
    await page.getByRole('button', { name: 'Rename' }).click();
    const dialog = page.getByRole('dialog');
    const name = dialog.getByLabel('Name');
    const create = dialog.getByRole('button', { name: 'Rename site' });
    await name.fill('  ');
    await page.mouse.click(5, 5);
    const held = await holdBack(page, '**/v1/sites/*', 'PATCH');
    await create.click();
    await expect.poll(held.count).toBe(1);
    await page.keyboard.press('Escape');
    await held.releaseFirst();
    await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true');
    const notice = dialog.getByRole('alert');
    await create.click();
    await expect.poll(held.count).toBe(1);
    await expect.poll(() => notice.count()).toBe(1);
    await held.releaseFirst();
    await expect.poll(() => create.getAttribute('aria-busy')).toBe(null);
    await expectAccessibleInLong(page);
    await name.fill('   ');
    expect([await name.getAttribute('aria-invalid'), await notice.count()]).toEqual([null, 0]);
    await create.click();
    await expect.poll(held.count).toBe(1);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await held.releaseFirst();
    await page.getByRole('button', { name: 'Dismiss this message' }).waitFor();
    await page.setViewportSize({ width: 360, height: 640 });
    await page.getByRole('button', { name: 'Rename' }).click();
    await dialog.getByRole('button', { name: 'Dismiss this message' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
  });

  onlyInLong(it)('focuses the form of a dialog, even if it loads later', async () => {
    const install = await portal.homeport.install(owner, accountId);
    const page = await portal.signedIn(owner, { at: `/installs/${install.id}/settings` });
    const held = await holdBack(page, '**/portal/api/accounts/*/sites?**');
    await page.getByRole('button', { name: 'Move to another site' }).click();
    await expect.poll(() => page.evaluate('document.activeElement?.role')).toBe('dialog');
    await expect.poll(held.count).toBe(1);
    await held.releaseFirst();
    await expect.poll(() => page.evaluate('document.activeElement?.tagName')).toBe('SELECT');
  });

  onlyInLong(it)('does not truncate a short account name on a phone', async () => {
    await portal.homeport.platform.database.write(({ queries }) =>
      queries.updateTable('accounts').set({ name: 'My account' }).where('id', '=', accountId).execute(),
    );
    const page = await portal.signedIn(owner, { width: 360 });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByTitle('My account').waitFor();
    const hidden = '((name) => name.scrollWidth - name.clientWidth)(document.querySelector("[title]"))';
    await expect.poll(() => page.evaluate(hidden)).toBe(0);
  });

  onlyInLong(it)('fits the longest names and all columns on a phone', async () => {
    const { owner: person, accountId: account } = await portal.homeport.ownedAccount();
    const { database } = portal.homeport.platform;
    await database.write(async ({ queries }) => {
      const long = { first_name: 'A'.repeat(100) };
      await queries.updateTable('users').set(long).where('id', '=', person.userId).execute();
      const name = `An agency ${'with a long name '.repeat(10)}`;
      await queries.updateTable('accounts').set({ name }).where('id', '=', account).execute();
    });
    await portal.homeport.install(person, account, { name: 'i'.repeat(40) });
    const page = await portal.signedIn(person, { width: 360 });
    for (const section of ['people', 'installs']) {
      await page.goto(`/accounts/${account}/${section}`);
      await page.getByRole('table').waitFor();
      await expectRoomWhenNarrow(page);
      const overhang =
        'Array.from(document.querySelectorAll("section"), (of) => of.scrollWidth - of.clientWidth)';
      await expect.poll(() => page.evaluate(overhang)).toEqual([0]);
      await expectAccessibleInLong(page);
    }
    await page.getByRole('link', { name: 'i'.repeat(40) }).click();
    await page.getByRole('heading', { name: 'i'.repeat(40), level: 1 }).waitFor();
    await expectRoomWhenNarrow(page);
    await page.getByRole('button', { name: 'Menu' }).click();
    await expectRoomWhenNarrow(page);
    const marked = page.getByRole('navigation', { name: 'Account' }).locator('[aria-current]');
    await expect.poll(() => marked.allTextContents()).toEqual(['Installs']);
  });

  describe('when another user signs in in the same browser', () => {
    /** Two people with one credential each. */
    const twoPeople = () =>
      Promise.all(
        ['of-the-last', 'of-the-next'].map(async (name) => {
          const { owner: person } = await portal.homeport.ownedAccount();
          await portal.homeport.services.credentials.issue(person.userId, { name });
          return person;
        }),
      );

    onlyInLong(it)('discards pending responses of the previous user', async () => {
      const [last = owner, next = owner] = await twoPeople();
      await portal.homeport.setPassword(next, PASSWORD);
      const page = await portal.signedIn(last);
      const held = await holdBack(page, '**/portal/api/credentials*');
      await page.goto('/me/api-access');
      await expect.poll(held.count).toBe(1);
      await page.getByRole('button', { name: /your account$/ }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Email address').fill(next.email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await expect.poll(held.count).toBe(2);
      await held.releaseFirst();
      await page.getByRole('progressbar').waitFor();
      await expect.poll(() => page.getByText('of-the-last').count()).toBe(0);
      await held.releaseFirst();
      await page.getByText('of-the-next').waitFor();
      await expect.poll(() => page.getByText('of-the-last').count()).toBe(0);
    });

    it('in another window, clears the data of the previous user', async () => {
      const [last = owner, next = owner] = await twoPeople();
      await portal.homeport.setPassword(next, PASSWORD);
      const { database } = portal.homeport.platform;
      await database.write(({ queries }) =>
        queries.updateTable('users').set({ first_name: 'Nina' }).where('id', '=', next.userId).execute(),
      );
      const page = await portal.signedIn(last, { at: '/me/api-access' });
      await page.getByText('of-the-last').waitFor();
      const held = await holdBack(page, '**/portal/api/credentials*');
      const answer = await page.request.post('/portal/api/session', {
        data: { email: next.email, password: PASSWORD },
        headers: { origin: portal.homeport.origin },
      });
      expect(answer.status()).toBe(200);
      // Makes the page reload its session, once it hears of changes.
      let changes = 0;
      const theirs = page.getByRole('button', { name: /^Nina .*your account$/ });
      await expect
        .poll(
          async () => {
            const name = `Name ${++changes}`;
            await database.write(({ queries }) => queries.updateTable('accounts').set({ name }).execute());
            return theirs.count();
          },
          { interval: 500 },
        )
        .toBe(1);
      await expect.poll(() => page.getByText('of-the-last').count()).toBe(0);
      await expect.poll(held.count).toBeGreaterThan(0);
      while (held.count() > 0) await held.releaseFirst();
      await page.getByText('of-the-next').waitFor();
    });
  });

  onlyInLong(it)('marks its own requests while the user is away', async () => {
    const page = await portal.signedIn(owner, { at: `/accounts/${accountId}/sites` });
    await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
    const loggedWithTheNext = async (name: string) => {
      const asked = page.waitForRequest((request) => /\/sites\?/.test(request.url()));
      await owner.client.post('/sites', { name, account_id: accountId });
      const logged = await (await asked).headerValue('x-homeport-unattended');
      await page.getByText(name).waitFor();
      return logged;
    };
    expect(await loggedWithTheNext('Attended')).toBe(null);
    await page.clock.setFixedTime(Date.now() + 6 * MINUTE_MS);
    expect(await loggedWithTheNext('Unattended')).toBe('true');
    await page.mouse.move(100, 100);
    expect(await loggedWithTheNext('Attended again')).toBe(null);
  });

  onlyInLong(it)('says that sites could not be loaded, and tries again', async () => {
    const page = await portal.signedIn(owner);
    const sites = /\/accounts\/[^/]+\/sites\?/;
    await page.route(sites, (route) => route.fulfill({ status: 400, json: { message: 'Failed' } }));
    await page.goto(`/accounts/${accountId}/installs`);
    await page.getByRole('button', { name: 'Create install' }).click();
    const failure = page.getByRole('dialog').getByText('The sites could not be loaded. Failed.');
    await failure.waitFor();
    await page.unroute(sites);
    await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).click();
    await failure.waitFor({ state: 'detached' });
  });

  onlyInLong(it)('shows an error at an unknown address', async () => {
    const page = await portal.signedIn(owner, { at: '/accounts/nobody/nothing' });
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await expectAccessibleInLong(page);
  });
});
