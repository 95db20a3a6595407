import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../homeport.ts';
import { PASSWORD, type Portal, startPortal } from './portal.ts';

const EVENTS = '/portal/api/events';

/** Collects the pages that have requested live changes, in order. A page requests them when it gets the lock. */
function watchStreams(context: BrowserContext): Page[] {
  const followed: Page[] = [];
  context.on('request', (request) => {
    if (new URL(request.url()).pathname === EVENTS) followed.push(request.frame().page());
  });
  return followed;
}

/** Simulates hiding and showing a tab, which a headless browser cannot do. */
const show = (page: Page, shown: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${!shown} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);

describe('live changes in several windows of a browser', () => {
  let portal: Portal;
  let owner: Person;
  let accountId: string;
  beforeAll(async () => {
    portal = await startPortal();
  });
  afterEach(() => portal.closePages());
  afterAll(() => portal.remove());

  /** Opens windows with the sites of a new account; `followed` has those that have requested live changes. */
  async function windows(count: number) {
    ({ owner, accountId } = await portal.homeport.ownedAccount());
    const first = await portal.signedIn(owner);
    const context = first.context();
    await first.goto('about:blank');
    const followed = watchStreams(context);
    const pages = [first];
    while (pages.length < count) pages.push(await context.newPage());
    for (const page of pages) {
      await page.goto(`/accounts/${accountId}/sites`);
      await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
    }
    return { pages, followed };
  }

  async function allShow(pages: readonly Page[], name: string) {
    const { status } = await owner.client.post('/sites', { name, account_id: accountId });
    expect(status).toBe(201);
    await Promise.all(pages.map((page) => page.getByText(name).waitFor()));
  }

  const others = (pages: readonly Page[], page: Page | undefined) => pages.filter((other) => other !== page);

  it('reach eight windows over one connection, which leaves room for other requests', async () => {
    const { pages, followed } = await windows(8);
    await allShow(pages, 'Seen everywhere');
    expect(followed).toHaveLength(1);
    const answers = await Promise.all(
      pages.map((page) => page.evaluate('fetch("/v1/user").then(({ status }) => status)')),
    );
    expect(answers).toEqual(Array.from({ length: 8 }, () => 200));
  });

  it('continue when the window with the connection is hidden, closed or crashes', async () => {
    const { pages, followed } = await windows(4);
    const [first] = followed;
    if (!first) throw new Error('no window follows');
    await show(first, false);
    await expect.poll(() => followed.length, { timeout: 10_000 }).toBe(2);
    await allShow(others(pages, first), 'After one was dismissed');
    // A window shows missed changes when it becomes visible, without taking over the connection.
    await expect.poll(() => first.getByText('After one was dismissed').count()).toBe(0);
    await show(first, true);
    await allShow(pages, 'After it was taken up again');
    expect(followed).toHaveLength(2);

    const [, second] = followed;
    await second?.close();
    const three = others(pages, second);
    await allShow(three, 'After one was closed');
    expect(followed).toHaveLength(3);

    const [, , third] = followed;
    if (!third) throw new Error('no window follows');
    const debug = await third.context().newCDPSession(third);
    const crashed = third.waitForEvent('crash');
    void debug.send('Page.crash').catch(() => {});
    await crashed;
    await allShow(others(three, third), 'After one has crashed');
    expect(followed).toHaveLength(4);
  });

  it('show a warning in every window while they are missing, and no longer', async () => {
    const { pages, followed } = await windows(3);
    const [first] = followed;
    if (!first) throw new Error('no window follows');
    const context = first.context();
    await context.route(`**${EVENTS}`, (route) => route.abort());
    await first.close();
    const [one, two] = others(pages, first);
    if (!one || !two) throw new Error('there are not two windows left');
    const word = (page: Page) => page.getByText('Connection lost');
    await Promise.all([one, two].map((page) => word(page).waitFor({ timeout: 20_000 })));
    const away = followed.at(-1) === one ? two : one;
    await show(away, false);
    await context.unroute(`**${EVENTS}`);
    await word(away === one ? two : one).waitFor({ state: 'hidden', timeout: 20_000 });
    await show(away, true);
    await allShow([one, two], 'Connected again');
    await expect.poll(() => word(away).count()).toBe(0);
  });

  it('belong to the user who signs in in one window, and end in all with the sign-out', async () => {
    const { pages } = await windows(2);
    const next = await portal.homeport.ownedAccount();
    await portal.homeport.setPassword(next.owner, PASSWORD);
    const answer = await pages[0]?.request.post('/portal/api/session', {
      data: { email: next.owner.email, password: PASSWORD },
      headers: { origin: portal.homeport.origin },
    });
    expect(answer?.status()).toBe(200);
    // The new user has no access to this account.
    const ofTheNext = (page: Page) => page.getByRole('heading', { name: 'Page not found' });
    await Promise.all(pages.map((page) => ofTheNext(page).waitFor({ timeout: 20_000 })));
    await Promise.all(pages.map((page) => page.getByRole('link', { name: 'Sites', exact: true }).click()));
    ({ owner, accountId } = next);
    await allShow(pages, 'A site of the next');

    await pages[0]?.getByRole('button', { name: /your account$/ }).click();
    await pages[0]?.getByRole('button', { name: 'Sign out' }).click();
    await Promise.all(pages.map((page) => page.getByLabel('Email address').waitFor({ timeout: 20_000 })));
    // Not even hidden, as after a session that expired.
    expect(await Promise.all(pages.map((page) => page.locator('#sidebar').count()))).toEqual([0, 0]);
  });

  it('reach each window on its own connection without locks', async () => {
    ({ owner, accountId } = await portal.homeport.ownedAccount());
    const first = await portal.signedIn(owner);
    const followed = watchStreams(first.context());
    await first.context().addInitScript('delete Navigator.prototype.locks');
    const pages = [first, await first.context().newPage()];
    for (const page of pages) await page.goto(`/accounts/${accountId}/sites`);
    await allShow(pages, 'Seen by both');
    expect(new Set(followed)).toEqual(new Set(pages));
  });
});
