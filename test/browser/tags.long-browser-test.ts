import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import type { Person } from '../homeport.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { expectAccessibleInLong, type Portal, pressEscape, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

let portal: Portal;
let owner: Person;
let accountId: string;
let page: Page;
const sites: Record<string, string> = {};
beforeAll(async () => {
  portal = await startPortal();
  ({ owner, accountId } = await portal.homeport.ownedAccount());
  const caller = operatorFor(owner.userId);
  const { services } = portal.homeport;
  for (const name of ['Bakery', 'Harbour', 'Museum']) {
    const site = await services.sites.create(caller, { name, account_id: accountId });
    sites[name] = site.id;
  }
  for (const name of ['bakery', 'alone']) await portal.homeport.install(owner, accountId, { name });
  const listed = await services.installs.list(
    caller,
    { limit: 100, offset: 0, sort: { key: null, isDescending: false }, cursor: null },
    { name: 'bakery' },
  );
  await services.installs.update(caller, listed.results[0]?.id ?? '', {
    site_id: sites.Bakery ?? null,
    environment: 'production',
  });
  page = await portal.signedIn(owner, { at: `/sites/${sites.Bakery}` });
});
afterAll(() => portal?.remove());

it('gives a site tags, which it creates and suggests', async () => {
  await page.getByRole('button', { name: 'Edit tags' }).click();
  const dialog = page.getByRole('dialog', { name: 'Tags of Bakery' });
  const input = dialog.getByRole('combobox', { name: 'Tags' });
  for (const tag of ['Monthly care', 'VIP']) {
    await input.fill(tag);
    await page.getByRole('option', { name: `Create “${tag}”` }).waitFor();
    await input.press('Enter');
    await dialog.getByRole('button', { name: `Remove ${tag}` }).waitFor();
  }
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await dialog.getByRole('button', { name: 'Save tags' }).click();
  await page.getByText('Saved the tags of Bakery.').waitFor();
  await page.getByRole('link', { name: 'VIP' }).click();
  await page.getByText('1 of 3 sites').waitFor();
  expect(new URL(page.url()).search).toBe('?tags=VIP');
});

it('tags the selected sites, filters by tag and shows tags on one line', async () => {
  await page.getByRole('combobox', { name: 'Tag' }).selectOption('Any');
  await page.getByRole('checkbox', { name: 'Select Harbour' }).check();
  await page.getByRole('checkbox', { name: 'Select Museum' }).check();
  const bar = page.getByRole('region', { name: 'Selected sites' });
  await bar.getByText('2 sites selected').waitFor();
  await bar.getByRole('button', { name: 'Tags' }).click();
  const dialog = page.getByRole('dialog', { name: 'Tags' });
  const input = dialog.getByRole('combobox', { name: 'Add' });
  for (const tag of ['monthly', 'harbour town', 'new']) {
    await input.fill(tag);
    await page.getByRole('option').first().waitFor();
    await input.press('Enter');
  }
  await dialog.getByRole('button', { name: 'Remove Monthly care' }).waitFor();
  await expectAccessibleInLong(page);
  await dialog.getByRole('button', { name: 'Change 2 sites' }).click();
  await page.getByText('Changed the tags of 2 sites.').waitFor();
  await page
    .getByRole('row', { name: /Museum/ })
    .getByText('+1')
    .waitFor();
  await page.getByRole('combobox', { name: 'Tag' }).selectOption('harbour town');
  await page.getByText('2 of 3 sites').waitFor();
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
});

it('filters installs by the tags of their sites', async () => {
  await page.getByRole('link', { name: 'Installs', exact: true }).click();
  await page.getByRole('combobox', { name: 'Tag' }).selectOption('VIP');
  await page.getByText('1 of 2 installs').waitFor();
  await page.getByRole('combobox', { name: 'Tag' }).selectOption('Any');
  await page.getByRole('checkbox', { name: 'Select alone' }).check();
  await page.getByRole('region', { name: 'Selected installs' }).getByRole('button', { name: 'Tags' }).click();
  await page.getByText('The selected installs have no site.').waitFor();
  await pressEscape(page);
});

it('renames and removes tags everywhere, and finds them in the palette', async () => {
  await page.getByRole('link', { name: 'Sites', exact: true }).click();
  await page.getByRole('button', { name: 'Manage tags' }).click();
  const dialog = page.getByRole('dialog', { name: 'Manage tags' });
  await dialog.getByRole('button', { name: 'Rename VIP' }).click();
  await expect.poll(() => page.evaluate('document.activeElement?.getAttribute("name")')).toBe('new_name');
  await dialog.getByLabel('New name').fill('Monthly Care');
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await dialog.getByRole('button', { name: 'Rename tag' }).click();
  await dialog.getByText('3 sites, 1 install').waitFor();
  await dialog.getByRole('button', { name: 'Remove new' }).click();
  await dialog.getByRole('button', { name: 'Remove tag' }).click();
  await dialog.getByRole('button', { name: 'Remove new' }).waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate('document.activeElement?.getAttribute("role")')).toBe('dialog');
  await expectAccessibleInLong(page);
  await dialog.getByRole('button', { name: 'Undo' }).click();
  await dialog.getByText('new', { exact: true }).waitFor();
  await dialog.getByText('2 sites, 0 installs').last().waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Name or command' }).fill('town');
  // The filter of the page behind it has an option of this name, too.
  await page.getByRole('dialog', { name: 'Search' }).getByRole('option', { name: 'harbour town' }).click();
  await page.getByText('2 of 3 sites').waitFor();
});

it('keeps tags that someone else adds, and undoes a change on the sites that remain', async () => {
  await page.goto(new URL(`/sites/${sites.Bakery}`, page.url()).href);
  const tag = (name: string) => page.getByRole('link', { name, exact: true });
  await page.getByRole('button', { name: 'Edit tags' }).click();
  const dialog = page.getByRole('dialog', { name: 'Tags of Bakery' });
  const input = dialog.getByRole('combobox', { name: 'Tags' });
  await input.fill('mine');
  await page.getByRole('option', { name: 'Create “mine”' }).waitFor();
  await input.press('Enter');
  await owner.client.patch(`/sites/${sites.Bakery}`, { tags: ['theirs'] });
  await dialog.getByRole('button', { name: 'Save tags' }).click();
  await tag('mine').waitFor();
  await tag('theirs').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('1 site has its former tags again.').waitFor();
  await tag('mine').waitFor({ state: 'detached' });
  await tag('theirs').waitFor();

  const places = page.getByRole('navigation', { name: 'Account' });
  await places.getByRole('link', { name: 'Sites', exact: true }).click();
  await page.getByRole('checkbox', { name: 'Select Harbour' }).check();
  await page.getByRole('checkbox', { name: 'Select Museum' }).check();
  await page.getByRole('region', { name: 'Selected sites' }).getByRole('button', { name: 'Tags' }).click();
  const tags = page.getByRole('dialog', { name: 'Tags' });
  await tags.getByRole('combobox', { name: 'Add' }).fill('theirs');
  await page.getByRole('option').first().waitFor();
  await tags.getByRole('combobox', { name: 'Add' }).press('Enter');
  await tags.getByRole('button', { name: 'Change 2 sites' }).click();
  await page.getByText('Changed the tags of 2 sites.').waitFor();
  await owner.client.delete(`/sites/${sites.Museum}`);
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await page.getByText('1 site has its former tags again. 1 site is no longer in this account.').waitFor();
});

it('withdraws the offer to undo when the user signs out', async () => {
  await page.getByRole('link', { name: 'Sites', exact: true }).click();
  await page.getByRole('button', { name: 'Actions for Bakery' }).click();
  await page.getByRole('button', { name: 'Edit tags', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Tags of Bakery' });
  await dialog.getByRole('combobox', { name: 'Tags' }).fill('late');
  await page.getByRole('option', { name: 'Create “late”' }).waitFor();
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Save tags' }).click();
  const offer = page.getByText('Saved the tags of Bakery.').getByRole('button', { name: 'Undo' }).last();
  await offer.waitFor();
  await page.getByRole('link', { name: 'Installs', exact: true }).click();
  await page.getByRole('heading', { name: 'Installs', level: 1 }).waitFor();
  expect(await offer.isVisible()).toBe(true);
  await page.getByRole('button', { name: /your account$/ }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
});
