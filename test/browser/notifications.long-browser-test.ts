import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUnsubscribeLinks } from '../../src/features/accounts/notifications/unsubscribe-link.ts';
import type { Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

let portal: Portal;
let owner: Person;
let accountId: string;
let install: { id: string; name: string };
let page: Page;

beforeAll(async () => {
  portal = await startPortal();
  ({ accountId, owner } = await portal.homeport.ownedAccount());
  install = await portal.homeport.install(owner, accountId);
  page = await portal.signedIn(owner);
});
afterAll(() => portal?.remove());

const bell = (name: string) => page.getByRole('link', { name, exact: true });

/** Lets the domain of the install lead here or elsewhere, as a check observes it. */
async function lead(reached: boolean): Promise<void> {
  await portal.homeport.platform.database.write(({ queries }) =>
    queries.updateTable('domains').set({ reached }).where('install_id', '=', install.id).execute(),
  );
}

it('shows the inbox, which grows while the page is open', async () => {
  await bell('Notifications').click();
  await page.getByText('No notifications yet.').waitFor();
  await expectBothThemesInLong(page);
  await lead(true);
  await lead(false);
  const title = page.getByRole('link', { name: /no longer leads to/ });
  await title.waitFor();
  await bell('Notifications: 1 unread').waitFor();
  await page.getByRole('heading', { name: 'Today', level: 2 }).waitFor();
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);

  await page.getByRole('link', { name: 'Unread (1)' }).click();
  const mark = page.getByRole('button', { name: /^Mark as read: / });
  await mark.focus();
  await page.keyboard.press('Enter');
  await page.getByText('You have read everything.').waitFor();
  await bell('Notifications').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await mark.click();
  await page.getByText('You have read everything.').waitFor();
  await page.getByRole('link', { name: 'All', exact: true }).click();

  // The last click counts, even if the answer to the one before is late.
  const opened = Promise.withResolvers<void>();
  const done: unknown[] = [];
  await page.route('**/user/notifications/*', async (route) => {
    if (done.length === 0) await opened.promise;
    await route.continue();
  });
  page.on('requestfinished', (request) => {
    if (request.method() === 'PATCH') done.push(request.postDataJSON());
  });
  await page.getByRole('button', { name: /^Mark as unread: / }).click();
  await title.click();
  await page.waitForURL(`**/installs/${install.id}/domains`);
  opened.resolve();
  await expect.poll(() => done).toEqual([{ read: false }, { read: true }]);
  await bell('Notifications').waitFor();
});

onlyInLong(it)('keeps the choice of emails, and links to the webhooks', async () => {
  await page.goto('/me/notifications/preferences');
  await page.getByLabel('Domains').selectOption({ label: 'All, in one email a day' });
  await page.getByText('Saved your preferences.').waitFor();
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await page.reload();
  await page.getByLabel('Domains').waitFor();
  await expect.poll(() => page.getByLabel('Domains').inputValue()).toBe('daily');
  await page.route('**/notification_preferences', (route) =>
    route.request().method() === 'PATCH' ? route.abort() : route.fallback(),
  );
  await page.getByLabel('Domains').selectOption({ label: 'All, at once' });
  await page.getByText('The server cannot be reached.').waitFor();
  await expect.poll(() => page.getByLabel('Domains').inputValue()).toBe('daily');
  await page.getByRole('link', { name: /^Webhooks of / }).click();
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
});

it('stops emails by the link of an email, without signing in', async () => {
  const { linkFor } = createUnsubscribeLinks(
    portal.homeport.platform.sealer,
    portal.homeport.config.publicUrl,
  );
  const visitor = await portal.browser();
  await visitor.goto(linkFor({ userId: owner.userId, categories: ['usage'] }));
  await visitor.getByRole('button', { name: 'Stop emails' }).click();
  await visitor.getByRole('heading', { name: 'Emails stopped' }).waitFor();
  const { body } = await owner.client.get('/user/notification_preferences');
  expect(JSON.stringify(body)).toContain('"email":"never"');
});
