import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import { visit } from '../edge.ts';
import { installName, type Person } from '../homeport.ts';
import { expectAccessible, focused, type Portal, startPortal } from './portal.ts';

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
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create site' }).click();
    await expectAccessible(page);
    // The error stands beside the field, and not in a bubble of the browser.
    await page.getByRole('dialog').getByRole('button', { name: 'Create site' }).click();
    await page.getByText('Fill in this field.').waitFor();
    expect(await page.evaluate('document.activeElement?.getAttribute("name")')).toBe('name');
    await page.getByLabel('Name').fill('Shop');
    await page.getByRole('button', { name: 'Create site' }).click();
    await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor();

    const production = page.getByRole('region', { name: 'Production' });
    await production.getByRole('button', { name: 'Create install' }).click();
    const name = installName();
    await page.getByLabel('Name').fill('My shop');
    await page.getByText('Use lower-case letters only.').waitFor();
    expect(await page.getByRole('button', { name: 'Create install' }).isDisabled()).toBe(true);
    await page.getByLabel('Name').fill(name);
    await page.getByText(`The address will be ${name}.`).waitFor();
    expect(await page.getByLabel('Environment').inputValue()).toBe('production');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create install' }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();

    await page.goBack();
    await production.getByText('Active').waitFor();
    await production.getByRole('link', { name: /^Website/ }).waitFor();
    await expectAccessible(page);
    const { siteDomain } = portal.homeport.config;
    expect((await visit(portal.homeport, `http://${name}.${siteDomain}/`)).status).toBe(200);

    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Store');
    await page.getByRole('button', { name: 'Rename site' }).click();
    await page.getByRole('heading', { name: 'Store', level: 1 }).waitFor();

    await page.getByRole('button', { name: 'Delete' }).click();
    const confirm = page.getByRole('button', { name: 'Delete site' });
    await page.getByRole('alertdialog').getByText(`${name} (Production)`).waitFor();
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel('Type Store to confirm').fill('Store');
    await expectAccessible(page);
    await confirm.click();
    await page.getByText('You have no sites yet').waitFor();
    await follow('Installs');
    await page.getByText('You have no installs yet').waitFor();
  });

  it('gets an existing install, which is detached and moved back', async () => {
    const site = await made('Journal');
    await follow('Sites');
    const { name } = await portal.homeport.install(owner, accountId, {
      site_id: site.id,
      environment: 'staging',
    });
    await follow('Journal');
    const staging = page.getByRole('region', { name: 'Staging' });
    const detach = staging.getByRole('button', { name: `Detach ${name}` });
    await detach.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await staging.getByText('Empty').count()).toBe(0);
    await detach.click();
    await page.getByText('The install is no longer Staging').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Detach' }).click();
    await staging.getByText('Empty').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('Staging');
    await page.getByRole('button', { name: 'Copy the site ID' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(site.id);

    const production = page.getByRole('region', { name: 'Production' });
    await production.getByRole('button', { name: 'Move install here' }).click();
    await page.getByRole('combobox', { name: 'Install' }).selectOption({ label: `${name}: no site` });
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Move install' }).click();
    await production.getByRole('link', { name: `Manage ${name}` }).waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 740 });
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it('of another user appears without a reload, with the state of its installs', async () => {
    await follow('Installs');
    await page.getByRole('table', { name: 'Installs', exact: true }).waitFor();
    const held = installName();
    await owner.client.post('/installs', { name: held, account_id: accountId });
    await page.getByRole('row', { name: held }).getByText('Active').waitFor();
    await page.getByRole('combobox', { name: 'Site' }).fill('No site');
    await page.getByRole('combobox', { name: 'Site' }).press('Enter');
    await page.getByText('1 of 2 installs').waitFor();
    await page.getByLabel('Search installs').fill('nothing like it');
    await page.getByText('0 of 2 installs').waitFor();
  });

  it('that was deleted shows an error', async () => {
    const site = await made('Passing');
    await follow('Sites');
    await follow('Passing');
    await page.getByRole('heading', { name: 'Passing' }).waitFor();
    await owner.client.delete(`/sites/${site.id}`);
    await page.getByRole('heading', { name: 'Site not found' }).waitFor();
    await expect.poll(() => focused(page)).toContain('It was deleted');
  });
});
