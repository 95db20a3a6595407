import { afterAll, beforeAll, expect, it } from 'vitest';
import { field } from '../client.ts';
import type { Person } from '../homeport.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { type Portal, startPortal } from './portal.ts';
import { expectAccessibleInBothThemes } from './themes.ts';

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

it('backs up the installs of a filtered list, and keeps refused ones selected', async () => {
  const page = await portal.signedIn(owner);
  await page.goto(`/accounts/${accountId}/installs?search=shop`);
  await page.getByText('2 of 3 installs').waitFor();
  await page.getByRole('button', { name: 'Bulk actions' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Bulk actions' });
  await dialog.getByText('2 of 3 selected').waitFor();
  // These installs have no object cache.
  expect(await dialog.getByRole('radio').count()).toBe(2);
  await dialog.getByLabel('Description').fill('before the update');
  await expectAccessibleInBothThemes(page);
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
  await dialog.getByRole('button', { name: 'Start' }).click();
  await dialog.getByText('shop-two: 20 backups of this install are being made or wait already').waitFor();
  await dialog.getByText('1 of 3 selected').waitFor();
  await page.getByText('1 install is being backed up.').waitFor();
  await database.write(({ queries }) =>
    queries.deleteFrom('backups').where('description', '=', 'waits').execute(),
  );
  await dialog.getByRole('button', { name: 'Start' }).click();
  await dialog.waitFor({ state: 'detached' });

  const made = [['before the update', 'completed']];
  expect(await descriptionsOf('shop-one')).toEqual(made);
  expect(await descriptionsOf('shop-two')).toEqual(made);
  expect(await descriptionsOf('blog')).toEqual([]);
});

it('selects nothing for an unfiltered list, and purges selected installs', async () => {
  const page = await portal.signedIn(owner);
  await page.goto(`/accounts/${accountId}/installs`);
  await page.getByRole('button', { name: 'Bulk actions' }).click();
  const dialog = page.getByRole('dialog', { name: 'Bulk actions' });
  await dialog.getByText('0 of 3 selected').waitFor();
  await dialog.getByRole('radio', { name: 'Purge page caches' }).check();
  expect(await dialog.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
  await dialog.getByLabel('blog').check();
  await dialog.getByRole('button', { name: 'Start' }).click();
  await page.getByText('1 install is being purged.').waitFor();
  await page.getByRole('link', { name: 'blog', exact: true }).click();
  await page.getByText('Purging the page cache').waitFor();
});
