import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import { timestamp } from '../../src/lib/clock.ts';
import type { Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { focused, type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

/** An account with one site and one install. */
interface Held {
  accountId: string;
  siteId: string;
  installId: string;
}

describe('the search and the commands', () => {
  let portal: Portal;
  let person: Person;
  let harbour: Held;
  let lighthouse: Held;
  beforeAll(async () => {
    portal = await startPortal({ roles: { api: true, hosting: false } });
    const first = await portal.homeport.ownedAccount();
    person = first.owner;
    const second = await portal.homeport.ownedAccount();
    await portal.homeport.platform.database.write(({ queries }) =>
      queries
        .insertInto('memberships')
        .values({
          account_id: second.accountId,
          user_id: person.userId,
          role: 'full',
          billing: false,
          invite_accepted: true,
          created_at: timestamp(portal.homeport.platform.clock),
        })
        .execute(),
    );
    harbour = await fill(first.accountId, first.owner, 'Harbour');
    lighthouse = await fill(second.accountId, second.owner, 'Lighthouse');
  });
  afterEach(() => portal.closePages());
  afterAll(() => portal.remove());

  async function fill(account_id: string, owner: Person, name: string): Promise<Held> {
    const { services } = portal.homeport;
    const caller = operatorFor(owner.userId);
    const site = await services.sites.create(caller, { name, account_id });
    const { id } = await services.installs.create(caller, {
      name: `${name.toLowerCase()}${process.pid}`,
      account_id,
      site_id: site.id,
      environment: 'production',
    });
    await portal.homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ status: 'active' }).where('id', '=', id).execute(),
    );
    await services.domains.create(caller, id, { name: `shop.${name.toLowerCase()}.example` });
    return { accountId: account_id, siteId: site.id, installId: id };
  }

  onlyInLong(it)('opens a site of another account by keyboard and switches to that account', async () => {
    const page = await portal.signedIn(person, { at: `/accounts/${harbour.accountId}/people` });
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Search' }).waitFor();
    // Before any response can arrive.
    await page.keyboard.type('lightho');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Lighthouse', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/sites/${lighthouse.siteId}`);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('content');
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/accounts/${lighthouse.accountId}/people`);
  });

  onlyInLong(it)('shows results with their place, and opens a domain in its install', async () => {
    const page = await portal.signedIn(person);
    const button = page.getByRole('button', { name: 'Search' });
    await button.click();
    const dialog = page.getByRole('dialog', { name: 'Search' });
    const field = dialog.getByRole('combobox', { name: 'Name or command' });
    await field.fill('.example');
    await dialog.getByText('2 results').waitFor();
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
    await dialog.getByText(/^Domain of harbour\d+, Production of Harbour, /).waitFor();
    await field.fill('nowhere');
    await dialog.getByText('No results.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Search');

    await button.click();
    await field.fill('shop.harbour');
    await dialog.getByRole('option', { name: /^shop\.harbour\.example/ }).click();
    await page.getByRole('row').getByRole('link', { name: 'shop.harbour.example' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/installs/${harbour.installId}/domains`);
    // So few domains have a search field only for users who arrived with a search.
    await page.getByLabel('Search domains').fill('');
    await expect.poll(() => page.getByRole('rowheader').count()).toBe(2);
  });

  it('runs commands by keyboard: creates a site, purges caches, switches the theme and the account', async () => {
    const page = await portal.signedIn(person, { at: `/accounts/${harbour.accountId}/people` });
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
    const dialog = page.getByRole('dialog', { name: 'Search' });
    const run = async (words: string, first: RegExp) => {
      await page.keyboard.press('Control+k');
      await dialog.waitFor();
      await page.keyboard.type(words);
      await dialog.getByRole('option', { name: first }).first().waitFor();
      await page.keyboard.press('Enter');
    };
    await run('create site', /^Create a site/);
    await page.getByRole('heading', { name: 'Create a site', level: 1 }).waitFor();
    await run('dark', /^Use the dark theme/);
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark');

    await page.keyboard.press('Control+k');
    await dialog.getByRole('group', { name: 'Recent pages' }).getByRole('option', { name: 'People' }).click();
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();

    await run('purge', /^Purge the caches of an install/);
    const choice = page.getByRole('dialog', { name: 'Purge the caches of which install?' });
    await choice.waitFor();
    await page.keyboard.press('Backspace');
    await dialog.waitFor();
    await page.keyboard.type('purge');
    await page.keyboard.press('Enter');
    await choice.waitFor();
    await choice
      .getByRole('group', { name: 'Installs' })
      .getByRole('option', { name: /^harbour/ })
      .waitFor();
    await expectBothThemesInLong(page);
    const purged = page.waitForRequest(/\/purge_cache$/);
    await page.keyboard.type('lighthouse');
    await choice.getByRole('option', { name: /^lighthouse/ }).waitFor();
    await expectBothThemesInLong(page);
    await page.keyboard.press('Enter');
    expect((await purged).url()).toContain(lighthouse.installId);
    await choice.waitFor({ state: 'detached' });

    await run('switch', /^Switch to /);
    await page.waitForURL(`**/accounts/${lighthouse.accountId}/people`);
  });
});
