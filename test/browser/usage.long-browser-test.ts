import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import { collectUsage } from '../../src/features/usage/jobs.ts';
import { visit } from '../edge.ts';
import type { Person } from '../homeport.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

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

async function collect(): Promise<void> {
  const { database, queue } = portal.homeport.platform;
  await database.write((transaction) =>
    queue.enqueue(transaction, collectUsage, { payload: {}, lane: null }),
  );
  await portal.homeport.idle();
}

/** The first cells of a row of the table. */
async function rowOf(name: string): Promise<string[]> {
  const cells = page.getByRole('row').filter({ hasText: name }).locator('th, td');
  return (await cells.allTextContents()).slice(0, 3);
}

it('shows the usage of an install by day, and measures its storage', async () => {
  await page.goto(`/installs/${install.id}/usage`);
  await page.getByText('No traffic yet').waitFor();
  await page.getByText('The storage has not been measured yet').waitFor();
  for (let visits = 0; visits < 3; visits++) {
    await visit(portal.homeport, `http://${install.name}.localhost/`, { 'User-Agent': BROWSER });
  }
  await collect();
  await page.getByRole('button', { name: 'Measure storage' }).click();
  await page.getByText('Measuring the storage').waitFor();
  await page.getByText('Measured', { exact: true }).waitFor();
  await page.getByText('Limit of files', { exact: true }).waitFor();
  const today = new Date().toISOString().slice(0, 10);
  await expect.poll(() => rowOf(today)).toEqual([today, '1', '3']);
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
});

it('shows the usage of an account beside its limits', async () => {
  await portal.homeport.services.usage.setLimits(accountId, { visitors: 10 });
  await page.goto(`/accounts/${accountId}/sites`);
  await page.getByRole('link', { name: 'Usage', exact: true }).click();
  await page.getByText('1 of 10 (10 %)').waitFor();
  await expect.poll(async () => (await rowOf(install.name)).slice(0, 2)).toEqual([install.name, '1']);
  const site = { name: 'Empty', account_id: accountId, tags: ['VIP'] };
  await portal.homeport.services.sites.create(operatorFor(owner.userId), site);
  await page.getByRole('combobox', { name: 'Tag' }).selectOption('VIP');
  await page.getByText('No installs have this tag.').waitFor();
  await page.reload();
  await page.getByText('No installs have this tag.').waitFor();
  await page.getByRole('combobox', { name: 'Tag' }).selectOption('Any');
  await page.getByRole('row').filter({ hasText: install.name }).waitFor();
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
});
