import { afterAll, beforeAll, expect, it } from 'vitest';
import { field } from '../client.ts';
import type { Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { type Portal, pressEscape, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

let portal: Portal;
let owner: Person;
let accountId: string;
beforeAll(async () => {
  portal = await startPortal();
  ({ accountId, owner } = await portal.homeport.ownedAccount());
  for (const name of ['shop-one', 'shop-two', 'blog'])
    await portal.homeport.install(owner, accountId, { name });
});
afterAll(() => portal?.remove());

async function descriptionsOf(name: string): Promise<unknown[]> {
  await portal.homeport.idle();
  const all = await portal.homeport.services.backups.listAll(name);
  return all.map((backup) => [field(backup, 'description'), field(backup, 'status')]);
}

it('acts on the selected installs that the filters show, and reports each result', async () => {
  const page = await portal.signedIn(owner, { at: `/accounts/${accountId}/installs` });
  await page.getByRole('checkbox', { name: 'Select blog' }).check();
  const bar = page.getByRole('region', { name: 'Selected installs' });
  await bar.getByText('1 install selected').waitFor();
  await page.getByRole('searchbox', { name: 'Search installs' }).fill('shop');
  await page.getByText('2 of 3 installs').waitFor();
  // The filter hides the selected one, so nothing is selected.
  await bar.waitFor({ state: 'detached' });
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await bar.getByText('2 installs selected').waitFor();
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await bar.getByRole('button', { name: 'Bulk actions' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Bulk actions' });
  await dialog.getByText('shop-one, shop-two').waitFor();
  // These installs have no object cache.
  await expect.poll(() => dialog.getByRole('radio').count()).toBe(2);
  await dialog.getByLabel('Description').fill('before the update');
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);

  const listed = (await owner.client.get('/installs?limit=100')).body;
  const results = field(listed, 'results');
  const two = Array.isArray(results) ? results.find((one) => field(one, 'name') === 'shop-two') : undefined;
  const id = String(field(two, 'id'));
  // Fills the queue of this install.
  const { database } = portal.homeport.platform;
  const waiting = Array.from({ length: 20 }, () => ({
    id: crypto.randomUUID(),
    install_id: id,
    description: 'waits',
    notification_emails: '[]',
    status: 'requested' as const,
    bytes: null,
    files: null,
    sha256: null,
    reason: null,
    requested_by: null,
    created_at: new Date().toISOString(),
    finished_at: null,
  }));
  await database.write(({ queries }) => queries.insertInto('backups').values(waiting).execute());
  await dialog.getByRole('button', { name: 'Start for 2 installs' }).click();
  await dialog.getByText('20 backups of this install are being made or wait already').waitFor();
  await dialog.getByText('2 of 2 finished, 1 failed or refused').waitFor();
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await database.write(({ queries }) =>
    queries.deleteFrom('backups').where('description', '=', 'waits').execute(),
  );
  await dialog.getByRole('button', { name: 'Try again with 1 install' }).click();
  await dialog.getByRole('button', { name: 'Start for 1 install' }).click();
  await dialog.getByText('1 of 1 finished').waitFor();

  const made = [['before the update', 'completed']];
  expect(await descriptionsOf('shop-one')).toEqual(made);
  expect(await descriptionsOf('shop-two')).toEqual(made);
  expect(await descriptionsOf('blog')).toEqual([]);
});

onlyInLong(it)('selects all that match, on every page, and clears the selection', async () => {
  const many = await portal.homeport.ownedAccount();
  for (let number = 0; number < 51; number += 1) await portal.homeport.install(many.owner, many.accountId);
  const page = await portal.signedIn(many.owner, { at: `/accounts/${many.accountId}/installs` });
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  const bar = page.getByRole('region', { name: 'Selected installs' });
  await bar.getByText('50 installs selected').waitFor();
  await bar.getByRole('button', { name: 'Select all 51 that match' }).click();
  await bar.getByText('51 installs selected').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  const last = page.getByRole('row').getByRole('checkbox', { name: /^Select (?!all)/ });
  await expect.poll(() => last.count()).toBe(1);
  await expect.poll(() => last.isChecked()).toBe(true);
  await last.uncheck();
  await bar.getByText('50 installs selected').waitFor();
  await bar.getByRole('button', { name: 'Bulk actions' }).click();
  await page.getByRole('button', { name: 'Start for 50 installs' }).waitFor();
  await pressEscape(page);
  await bar.getByRole('button', { name: 'Clear' }).click();
  await bar.waitFor({ state: 'detached' });
  const name = (await page.getByRole('row').last().getByRole('link').first().textContent()) ?? '';

  // Dialogs ask the server for names, and show the chosen one without a search, too.
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.getByRole('link', { name: 'People' }).click();
  await page.getByRole('button', { name: 'Invite person' }).click();
  const search = page.getByRole('dialog').getByLabel('Search installs');
  await search.fill(name);
  await page.getByLabel(name, { exact: true }).check();
  await search.fill('');
  await page.getByText('Showing the first 50.').waitFor();
  await expect.poll(() => page.getByLabel(name, { exact: true }).isChecked()).toBe(true);
  await expectBothThemesInLong(page);

  await page.goto(`/accounts/${many.accountId}/installs`);
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await page.getByRole('link', { name: 'Settings', exact: true }).last().click();
  await page.getByRole('button', { name: 'Copy to another install' }).click();
  await search.fill(name);
  await page.getByText('All installs that match.').waitFor();
  await page.getByRole('radio', { name }).check();
  await search.fill('');
  await page.getByText('The first 50 installs.').waitFor();
  await expect.poll(() => page.getByRole('radio', { name }).isChecked()).toBe(true);
  await expectBothThemesInLong(page);
  expect(asked).not.toContain('/v1/installs');
});
