import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import { visit } from '../edge.ts';
import { installName, type Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { expectAccessibleInLong, focused, type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

describe('a site', () => {
  let portal: Portal;
  let owner: Person;
  let accountId: string;
  /** The owner's page. */
  let page: Page;
  beforeAll(async () => {
    portal = await startPortal();
    ({ owner, accountId } = await portal.homeport.ownedAccount());
    page = await portal.signedIn(owner);
  });
  afterAll(() => portal.remove());

  /** Follows a link without a reload. */
  const follow = (name: string) => page.getByRole('link', { name, exact: true }).click();
  const made = (name: string) =>
    portal.homeport.services.sites.create(operatorFor(owner.userId), { name, account_id: accountId });

  it('is created with an install, renamed, and deleted by typing its name', async () => {
    await follow('Sites');
    await page.getByText('You have no sites yet').waitFor();
    await expectAccessibleInLong(page);
    await page.getByRole('link', { name: 'Create site' }).press('Enter');
    const next = page.getByRole('button', { name: 'Continue' });
    // The error stands beside the field, and not in a bubble of the browser.
    await next.press('Enter');
    await page.getByText('Fill in this field.').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement?.getAttribute("name")')).toBe('name');
    await page.getByLabel('Name').fill('Café Shop');
    await expectBothThemesInLong(page);
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Where does Café Shop run first?' }).waitFor();
    expect(await focused(page)).toBe('Where does Café Shop run first?');
    expect(
      await page.getByRole('listitem').filter({ hasText: 'Environment' }).getAttribute('aria-current'),
    ).toBe('step');
    await page.setViewportSize({ width: 320, height: 800 });
    const steps = '[...document.querySelectorAll("ol[aria-label=Steps] > li")]';
    const rows = `new Set(${steps}.map((step) => step.offsetTop)).size`;
    await expect.poll(() => page.evaluate(rows)).toBe(1);
    await page.setViewportSize({ width: 1280, height: 900 });
    await expect.poll(() => page.getByLabel('Environment').inputValue()).toBe('production');
    const field = page.getByLabel('Name');
    await expect.poll(() => field.inputValue()).toBe('cafe-shop');
    // The name that was given stays on the way back.
    await page.getByRole('button', { name: 'Back' }).click();
    await expect.poll(() => field.inputValue()).toBe('Café Shop');
    await field.fill('Shop');
    const tags = page.getByRole('combobox', { name: 'Tags' });
    await tags.fill('VIP');
    await page.getByRole('option', { name: 'Create “VIP”' }).waitFor();
    await tags.press('Enter');
    // What was typed without Enter is a tag, too.
    await tags.fill('monthly');
    await page.getByRole('option', { name: 'Create “monthly”' }).waitFor();
    await tags.press('Tab');
    await page.getByRole('button', { name: 'Remove monthly' }).waitFor();
    await expectAccessibleInLong(page);
    await next.click();
    await page.getByText('The address will be shop.').waitFor();
    await field.fill('My shop');
    await page.getByText('Use lower-case letters only.').waitFor();
    const create = page.getByRole('button', { name: 'Create site' });
    await expect.poll(() => create.isDisabled()).toBe(true);
    const { name: taken } = await portal.homeport.install(owner, accountId);
    await field.fill(taken);
    await create.click();
    await page.getByText('is already taken').first().waitFor();
    await expect.poll(() => page.getByText('The address will be').count()).toBe(0);
    const name = installName();
    await field.fill(name);
    await page.getByText(`The address will be ${name}.`).waitFor();
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
    await field.press('Enter');

    await page.getByRole('heading', { name: 'Which domain should it have?' }).waitFor();
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText('Enter a domain name.').first().waitFor();
    await page.getByLabel('Domain name').fill(`${name}.example`);
    await page.getByText(`www.${name}.example redirects to ${name}.example`).waitFor();
    await expectAccessibleInLong(page);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: `DNS records for ${name}.example` }).waitFor();
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
    // The wizard continues after a reload.
    await page.reload();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Your site is ready' }).waitFor();
    await page.getByText(`${name} is online at`).waitFor();
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
    await page.getByRole('link', { name: `Go to ${name}` }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    // The failed attempt left no second site.
    await follow('Sites');
    await page.getByRole('row', { name: /Shop/ }).getByText('VIP').waitFor();
    await page.getByRole('row', { name: /Shop/ }).getByText('monthly').waitFor();
    await page.getByRole('link', { name: 'Shop', exact: true }).click();
    const production = page.getByRole('region', { name: 'Production' });
    await production.getByText('Active').waitFor();
    await production.getByRole('link', { name: /^Website/ }).waitFor();
    await expectAccessibleInLong(page);
    const { siteDomain } = portal.homeport.config;
    expect((await visit(portal.homeport, `http://${name}.${siteDomain}/`)).status).toBe(200);

    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Store');
    await page.getByRole('button', { name: 'Rename site' }).click();
    await page.getByRole('heading', { name: 'Store', level: 1 }).waitFor();

    await page.getByRole('button', { name: 'Delete' }).click();
    const confirm = page.getByRole('button', { name: 'Delete site' });
    await page.getByRole('alertdialog').getByText(`${name} (Production)`).waitFor();
    await expect.poll(() => confirm.isDisabled()).toBe(true);
    await page.getByLabel('Type Store to confirm').fill('Store');
    await expectAccessibleInLong(page);
    await confirm.click();
    await page.getByText('You have no sites yet').waitFor();
  });

  onlyInLong(it)('gets an existing install, which is detached and moved back', async () => {
    const site = await made('Journal');
    await follow('Sites');
    const { name, id } = await portal.homeport.install(owner, accountId, {
      site_id: site.id,
      environment: 'staging',
    });
    await follow('Journal');
    const staging = page.getByRole('region', { name: 'Staging' });
    const detach = staging.getByRole('button', { name: `Detach ${name}` });
    await detach.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => staging.getByText('Empty').count()).toBe(0);
    await detach.click();
    await page.getByText('The install is no longer Staging').waitFor();
    await expectAccessibleInLong(page);
    await page.getByRole('button', { name: 'Detach' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await detach.click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Detach' }).click();
    await staging.getByText('Empty').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('Staging');
    await page.getByRole('button', { name: 'Copy the site ID' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(site.id);

    const production = page.getByRole('region', { name: 'Production' });
    await production.getByRole('button', { name: 'Move install here' }).click();
    await page.getByRole('combobox', { name: 'Install' }).selectOption({ label: `${name}: no site` });
    await expectAccessibleInLong(page);
    await page.getByRole('button', { name: 'Move install' }).click();
    await production.getByRole('link', { name: `Manage ${name}` }).waitFor();
    await owner.client.patch(`/installs/${id}`, { environment: 'development' });
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByText(`Someone moved ${name} again since.`).waitFor();
    await page.getByRole('button', { name: 'Dismiss this message' }).click();
    await page
      .getByRole('region', { name: 'Development' })
      .getByRole('link', { name: `Manage ${name}` })
      .waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 740 });
    await expectAccessibleInLong(page);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  onlyInLong(it)(
    'is renamed and deleted from the menu of its row, which keeps the sort order in the address',
    async () => {
      await made('Zoo');
      const sorted = `/accounts/${accountId}/sites?sort=-name`;
      await page.goto(sorted);
      const act = async (name: string, action: string) => {
        await page.getByRole('button', { name: `Actions for ${name}` }).click();
        await page.getByRole('button', { name: action, exact: true }).click();
      };
      await page.getByRole('button', { name: 'Actions for Zoo' }).click();
      await page.getByRole('link', { name: 'Installs' }).last().waitFor();
      await expectBothThemesInLong(page);
      await page.keyboard.press('Escape');
      await act('Zoo', 'Rename');
      await page.getByRole('textbox', { name: 'Name' }).fill('Aquarium');
      await page.getByRole('button', { name: 'Rename site' }).click();
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await page.getByRole('checkbox', { name: 'Select Aquarium' }).check();
      const bar = page.getByRole('region', { name: 'Selected sites' });
      await bar.getByText('1 site selected').waitFor();
      await act('Aquarium', 'Delete');
      await page.getByLabel('Type Aquarium to confirm').fill('Aquarium');
      await page.getByRole('button', { name: 'Delete site' }).click();
      await page.getByRole('row', { name: /Aquarium/ }).waitFor({ state: 'detached' });
      await bar.waitFor({ state: 'detached' });
      expect(page.url()).toBe(`${portal.homeport.origin}${sorted}`);
    },
  );

  onlyInLong(it)('is found by the server among many when an install moves to it', async () => {
    const many = Array.from({ length: 55 }, (_, index) => `Branch ${index}`);
    for (const name of many) await made(name);
    const zoo = await made('Zoo');
    const { id, name } = await portal.homeport.install(owner, accountId, { site_id: zoo.id });
    await page.goto(`/installs/${id}/settings`);
    await page.getByRole('button', { name: 'Move to another site' }).click();
    const dialog = page.getByRole('dialog', { name: `Move ${name}` });
    // A select stands there until the script of the combobox has loaded.
    const field = dialog.locator('input[role="combobox"]');
    await expect
      .poll(() => page.evaluate('document.activeElement?.matches("input[role=combobox]")'))
      .toBe(true);
    // Not one of the first fifty sites.
    await expect.poll(() => field.inputValue()).toBe('Zoo');
    await field.fill('branch 54');
    await page.getByRole('option', { name: 'Branch 54' }).waitFor();
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('Branch 54');
    await field.fill('branch 12');
    await page.getByRole('option', { name: 'Branch 12' }).waitFor();
    await expect.poll(() => page.getByRole('option').count()).toBe(1);
    await expectBothThemesInLong(page);
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('Branch 12');
    // Escape closes the list, and then the dialog.
    await field.fill('nothing');
    await page.getByText('Nothing matches.').waitFor();
    await field.press('Escape');
    await dialog.waitFor();
    // A failed search keeps the field and the typed text.
    const searches = /\/accounts\/[^/]+\/sites\?.*search=branch/;
    await page.route(searches, (route) => route.fulfill({ status: 400, json: { message: 'Failed' } }));
    await field.fill('branch 1');
    await dialog.getByText('The search failed. Try again.').waitFor();
    await expect.poll(() => field.inputValue()).toBe('branch 1');
    expect(await field.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true);
    await page.unroute(searches);
    await field.fill('branch 12');
    await page.getByRole('option', { name: 'Branch 12' }).waitFor();
    await field.press('Enter');
    await dialog.getByRole('button', { name: 'Move', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'Branch 12' }).waitFor();
  });

  onlyInLong(it)('of another user appears without a reload, with the state of its installs', async () => {
    await follow('Installs');
    await page.getByRole('table', { name: 'Installs', exact: true }).waitFor();
    const held = installName();
    await owner.client.post('/installs', { name: held, account_id: accountId });
    await page.getByRole('row', { name: held }).getByText('Active').waitFor();
    await page.getByRole('combobox', { name: 'Site' }).fill('No site');
    await page.getByRole('combobox', { name: 'Site' }).press('Enter');
    await page.getByText(/^[1-9] of \d+ installs$/).waitFor();
    await page.getByLabel('Search installs').fill('nothing like it');
    await page.getByText(/^0 of \d+ installs$/).waitFor();
  });

  onlyInLong(it)('that was deleted shows an error', async () => {
    const site = await made('Abandoned');
    await follow('Sites');
    await follow('Abandoned');
    await page.getByRole('heading', { name: 'Abandoned' }).waitFor();
    await owner.client.delete(`/sites/${site.id}`);
    await page.getByRole('heading', { name: 'Site not found' }).waitFor();
    await expect.poll(() => focused(page)).toContain('It was deleted');
  });
});
