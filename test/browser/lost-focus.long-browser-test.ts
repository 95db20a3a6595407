import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { type Portal, startPortal } from './portal.ts';

describe('keyboard focus', () => {
  let portal: Portal;
  let owner: Person;
  let signedIn: Page;
  /** In a new tab for each test. */
  let page: Page;
  let accountId: string;
  let installId: string;
  beforeAll(async () => {
    portal = await startPortal();
    ({ owner, accountId } = await portal.homeport.ownedAccount());
    ({ id: installId } = await portal.homeport.install(owner, accountId));
    signedIn = await portal.signedIn(owner);
    await signedIn.goto('about:blank');
  });
  beforeEach(async () => {
    page = await signedIn.context().newPage();
    return () => page.close();
  });
  afterAll(() => portal.remove());

  /** Adds a domain to the install and opens the install's domains; resolves to the domain's menu button. */
  async function showDomain(name: string): Promise<Locator> {
    const { status } = await owner.client.post(`/installs/${installId}/domains`, { name });
    expect(status).toBe(201);
    await page.goto(`/installs/${installId}/domains`);
    return page.getByRole('button', { name: `Actions for ${name}` });
  }

  async function deleteDomain(name: string): Promise<void> {
    const { id } = await portal.homeport.platform.database.reader
      .selectFrom('domains')
      .select('id')
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    const { status } = await owner.client.delete(`/installs/${installId}/domains/${id}`);
    expect(status).toBe(204);
  }

  const focus = () =>
    page.evaluate('document.activeElement.id === "content" ? "content" : document.activeElement.textContent');

  it('moves to the page when a row is removed before the dialog that asked for it closes', async () => {
    const { userId } = await portal.homeport.person(accountId, 'full');
    await page.goto(`/accounts/${accountId}/people`);
    const menu = page.getByRole('button', { name: /^Actions for/ });
    await page.route(`**/account_users/${userId}`, async (route) => {
      const response = await route.fetch();
      // The server announces the change, too: the row goes while the dialog still waits for its answer.
      await menu.waitFor({ state: 'detached' });
      await route.fulfill({ response });
    });
    await menu.click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(focus).toBe('content');
  });

  onlyInLong(it)(
    'moves to the page when a row is removed after the dialog that asked for it closed',
    async () => {
      const { userId } = await portal.homeport.person(accountId, 'full');
      await page.goto(`/accounts/${accountId}/people`);
      const menu = page.getByRole('button', { name: /^Actions for/ });
      await menu.waitFor();
      let load = () => {};
      const mayLoad = new Promise<void>((resolve) => {
        load = resolve;
      });
      await page.route(/\/account_users(\?|$)/, async (route) => {
        await mayLoad;
        await route.continue();
      });
      await menu.click();
      await page.getByRole('button', { name: 'Remove', exact: true }).click();
      const dialog = page.getByRole('alertdialog');
      await dialog.getByRole('button', { name: 'Remove' }).click();
      await dialog.waitFor({ state: 'detached' });
      await expect
        .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
        .toMatch(/^Actions for/);
      load();
      await menu.waitFor({ state: 'detached' });
      await expect.poll(focus).toBe('content');
      expect((await owner.client.get(`/accounts/${accountId}/account_users/${userId}`)).status).toBe(404);
    },
  );

  onlyInLong(it)('moves to the heading of a list when someone else removes the focused row', async () => {
    const change = await showDomain('gone.example');
    await change.focus();
    await deleteDomain('gone.example');
    await change.waitFor({ state: 'detached' });
    await expect.poll(focus).toMatch(/: Domains$/);
  });

  onlyInLong(it)('stays where the user took it', async () => {
    const change = await showDomain('elsewhere.example');
    await change.focus();
    await page.evaluate('document.activeElement.blur()');
    await deleteDomain('elsewhere.example');
    await change.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement === document.body')).toBe(true);
  });
});
