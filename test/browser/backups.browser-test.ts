import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyInstall } from '../../src/features/websites/installs/jobs.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/lib/durations.ts';
import { field, text } from '../client.ts';
import { visit } from '../edge.ts';
import type { Person } from '../homeport.ts';
import { mailsTo } from '../mails.ts';
import { type ManualClock, manualClock } from '../manual-clock.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { expectAccessibleInLong, focused, type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

let clock: ManualClock;
let portal: Portal;
let owner: Person;
let shop: Install;
let other: Install;
/** The install whose backups are browsed. */
let album: Install;
/** The production install of a site. */
let live: Install;
let page: Page;

beforeAll(async () => {
  clock = manualClock(new Date());
  portal = await startPortal({ clock });
  const { accountId, owner: person } = await portal.homeport.ownedAccount();
  owner = person;
  const newInstall = () => portal.homeport.install(owner, accountId);
  [shop, other, album] = await Promise.all([newInstall(), newInstall(), newInstall()]);
  const site = await owner.client.post('/sites', { name: 'Live', account_id: accountId });
  live = await portal.homeport.install(owner, accountId, {
    site_id: text(site.body, 'id'),
    environment: 'production',
  });
  page = await portal.signedIn(owner);
});
afterAll(() => portal?.remove());

interface Install {
  id: string;
  name: string;
}

/** Opens the backups of an install without a reload. */
async function showBackups({ name }: Install): Promise<void> {
  await page.getByRole('link', { name: 'Installs', exact: true }).click();
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('link', { name: 'Backups', exact: true }).click();
}
const hostFolder = (...path: string[]) => join(portal.homeport.config.dataDir, 'host', ...path);
const writePage = ({ id }: Install, content: string) =>
  writeFileSync(hostFolder('installs', id, 'files', 'index.html'), content);
const website = async ({ name }: Install) => (await visit(portal.homeport, `http://${name}.localhost/`)).body;

/** Keeps an install busy. Returns a function that ends it and finishes what waits. */
async function holdUp({ id }: Install): Promise<() => Promise<void>> {
  const { database, queue } = portal.homeport.platform;
  await database.write((transaction) =>
    queue.enqueue(transaction, applyInstall, { payload: { id }, lane: id, delayMs: HOUR_MS }),
  );
  return async () => {
    clock.advance(HOUR_MS);
    await portal.homeport.idle();
  };
}

describe('backups', () => {
  onlyInLong(it)('are listed in pages, newest first', async () => {
    const { database } = portal.homeport.platform;
    const backups = Array.from({ length: 30 }, (_, number) => ({
      id: crypto.randomUUID(),
      install_id: other.id,
      description: `night ${number + 1}`,
      notification_emails: '[]',
      status: 'completed' as const,
      bytes: 2_048_000,
      files: 1204,
      sha256: null,
      reason: null,
      requested_by: null,
      scheduled: true,
      created_at: new Date(clock.now().getTime() - (30 - number) * DAY_MS).toISOString(),
      finished_at: clock.now().toISOString(),
    }));
    await database.write(({ queries }) => queries.insertInto('backups').values(backups).execute());
    await showBackups(other);
    await page.getByText('Page 1 of 2').waitFor();
    // The links to the other lists of backups have another name than those to the next page.
    await expectAccessibleInLong(page, ['landmark-unique']);
    await page
      .getByText(/scheduled, 2\.0 MB, 1,204 files/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByRole('heading', { name: 'night 1', exact: true }).waitFor();
    await expect.poll(() => page.getByRole('heading', { level: 3 }).count()).toBe(5);
  });

  it('are created and restore the website', async () => {
    writePage(shop, 'as it was');
    await showBackups(shop);
    // The provider decides about daily backups.
    await page.getByText('You have no backups yet.').waitFor();
    await expect.poll(() => page.getByText('every night').count()).toBe(0);
    await page.getByRole('button', { name: 'Create backup' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Description').fill('before the update');
    await expect.poll(() => dialog.getByLabel('Notify by email').inputValue()).toBe(owner.email);
    await dialog.getByLabel('Notify by email').fill('nobody');
    await dialog.getByRole('button', { name: 'Create backup' }).click();
    await dialog.getByText('nobody is not an email address.').waitFor();
    await dialog.getByLabel('Notify by email').fill(owner.email);
    await dialog.getByRole('button', { name: 'Create backup' }).click();
    const backup = page.getByRole('listitem').filter({ hasText: 'before the update' });
    await backup.getByText('Completed').waitFor();
    await backup.getByText(/manual, .*B, 1 file/).waitFor();
    await portal.homeport.idle();
    expect(mailsTo(portal.homeport, owner.email)).toHaveLength(1);

    writePage(shop, 'broken by the update');
    await owner.client.post(`/installs/${shop.id}/purge_cache`, { type: 'page' });
    await portal.homeport.idle();
    expect(await website(shop)).toBe('broken by the update');

    await page.getByRole('button', { name: 'Restore before the update' }).click();
    await dialog.getByRole('button', { name: 'Continue' }).click();
    const confirm = page.getByRole('alertdialog');
    await confirm.getByText('Later changes are lost').waitFor();
    await confirm.getByText(`${shop.name} keeps its name, domains, certificates and settings.`).waitFor();
    await confirm.getByText(/restore the checkpoint .* within 14 days/).waitFor();
    await expectAccessibleInLong(page);
    await page.keyboard.press('Escape');
    const restore = page.getByRole('button', { name: 'Restore before the update' });
    await expect
      .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('Restore before the update');
    await restore.click();
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await confirm.getByLabel(/^Type/).fill(shop.name);
    await confirm.getByRole('button', { name: `Restore ${shop.name}` }).click();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Restoring a backup: before the update' })
      .getByText('Done')
      .waitFor();
    expect(await website(shop)).toBe('as it was');
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);

    // The checkpoint returns to the former state.
    await page.getByText(/^The former state is in the checkpoint/).waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: /checkpoint, .*kept until/ })
      .waitFor();
    await page.getByRole('button', { name: 'Restore checkpoint', exact: true }).click();
    await page.getByRole('dialog', { name: 'Restore "Checkpoint before a restore"' }).waitFor();
    await dialog.getByLabel(`Make a checkpoint of ${shop.name} first`).uncheck();
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await confirm.getByText('No checkpoint is made').waitFor();
    await confirm.getByLabel(/^Type/).fill(shop.name);
    await confirm.getByRole('button', { name: `Restore ${shop.name}` }).click();
    await expect
      .poll(async () => {
        await portal.homeport.idle();
        return website(shop);
      })
      .toBe('broken by the update');
    await page
      .getByRole('button', { name: 'Restore checkpoint', exact: true })
      .waitFor({ state: 'detached' });
  });

  onlyInLong(it)('open to their files, and download or restore single ones', async () => {
    const files = (path: string) => hostFolder('installs', album.id, 'files', path);
    mkdirSync(files('photos/2026'), { recursive: true });
    writeFileSync(files('index.html'), 'as it was');
    writeFileSync(files('photos/2026/sea.txt'), 'the sea');
    writeFileSync(files('photos/list.txt'), 'one photo');
    symlinkSync('list.txt', files('photos/link'));
    for (let index = 0; index < 120; index += 1) writeFileSync(files(`photos/2026/p${index}`), 'x');
    const made = await owner.client.post(`/installs/${album.id}/backups`, {
      description: 'with photos',
      notification_emails: [],
    });
    await portal.homeport.idle();
    expect(made.status).toBe(202);
    rmSync(files('photos/2026'), { recursive: true });
    writeFileSync(files('photos/new.txt'), 'since');
    writeFileSync(files('index.html'), 'changed');

    await showBackups(album);
    await page.getByRole('link', { name: 'Browse with photos' }).click();
    await page.getByRole('link', { name: 'photos/' }).click();
    await page.getByText('(link to list.txt)').waitFor();
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download list.txt' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('list.txt');
    expect(readFileSync(await download.path(), 'utf8')).toBe('one photo');

    await page.getByRole('link', { name: '2026/' }).click();
    await page.getByText('Page 1 of 2').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('Select sea.txt').waitFor();
    // Back leads to the folder above.
    await page.goBack();
    await page.getByLabel('Select 2026').check();
    await page.getByRole('link', { name: '2026/' }).click();
    await page.getByText('The folder "photos/2026" is selected, with everything in it.').waitFor();
    await page.getByRole('link', { name: 'All files' }).click();
    await page.getByLabel('Select index.html').check();
    await page.getByText('2 files and folders selected').waitFor();
    await page.getByRole('button', { name: 'Restore selected' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('photos/2026').waitFor();
    await dialog.getByRole('button', { name: 'Continue' }).click();
    const confirm = page.getByRole('alertdialog');
    await confirm.getByText(/files that were added since stay/).waitFor();
    await confirm.getByText(`${album.name} keeps its other files,`, { exact: false }).waitFor();
    await expectAccessibleInLong(page);
    await confirm.getByLabel(/^Type/).fill(album.name);
    await confirm.getByRole('button', { name: 'Restore selected' }).click();
    await expect
      .poll(async () => {
        await portal.homeport.idle();
        return readFileSync(files('index.html'), 'utf8');
      })
      .toBe('as it was');
    expect(readFileSync(files('photos/2026/sea.txt'), 'utf8')).toBe('the sea');
    expect(readFileSync(files('photos/new.txt'), 'utf8')).toBe('since');

    // A backup that its host has lost says so.
    rmSync(hostFolder('snapshots', album.id), { recursive: true });
    rmSync(hostFolder('snapshot-indexes', album.id), { recursive: true });
    await page.reload();
    await page.getByText(/There is no snapshot/).waitFor();
    await page.getByRole('link', { name: 'All backups' }).click();
    await page.getByRole('link', { name: 'Browse with photos' }).waitFor();
  });

  onlyInLong(it)('need no description: the date is the default', async () => {
    await showBackups(live);
    await page.getByRole('button', { name: 'Create backup' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Description').fill(' ');
    await dialog.getByRole('button', { name: 'Create backup' }).click();
    await page.getByRole('heading', { name: /^Backup of \d{1,2} \w{3,4} \d{4}, \d{2}:\d{2}$/ }).waitFor();
    await portal.homeport.idle();
  });

  onlyInLong(it)('are packed for download, and say when an archive has expired', async () => {
    await showBackups(shop);
    await page.getByRole('button', { name: 'More actions for before the update' }).press('Enter');
    await page.getByRole('button', { name: 'Download', exact: true }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Download a backup' });
    await dialog.getByText('Keep the link secret').waitFor();
    await expectAccessibleInLong(page);
    await dialog.getByRole('button', { name: 'Create archive' }).click();
    const archive = page.getByRole('listitem').filter({ hasText: 'Archive of before the update' });
    await archive.getByText('Completed').waitFor();
    expect(await focused(page)).toBe('More');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      archive.getByRole('link', { name: 'Download the archive of before the update' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^${shop.name}-.*\\.tar\\.gz$`));
    expect(await download.failure()).toBeNull();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByText('Creating an archive of a backup: before the update').waitFor();
    await page.getByRole('link', { name: 'Backups', exact: true }).click();
    await archive.waitFor();
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
    await portal.homeport.platform.database.write(({ queries }) =>
      queries.updateTable('archives').set({ expires_at: clock.now().toISOString() }).execute(),
    );
    await archive.getByText('It can no longer be downloaded').waitFor();
    await expect.poll(() => archive.getByRole('link').count()).toBe(0);
  });

  onlyInLong(it)('have long descriptions shortened until expanded', async () => {
    const description = `long ${'w'.repeat(900)}`;
    await owner.client.post(`/installs/${shop.id}/backups`, { description, notification_emails: [] });
    await portal.homeport.idle();
    await showBackups(shop);
    const backup = page.getByRole('listitem').filter({ hasText: 'long w' });
    const shown = backup.getByRole('heading');
    await expect.poll(async () => (await shown.textContent())?.length).toBe(200);
    await expectRoomWhenNarrow(page);
    await backup.getByRole('button', { name: 'Show full description' }).press('Enter');
    await expect.poll(() => shown.textContent()).toBe(description);
    expect(await focused(page)).toBe('Show less');
  });

  onlyInLong(it)('show why one was aborted', async () => {
    await showBackups(shop);
    const files = hostFolder('installs', shop.id, 'files');
    renameSync(files, `${files}.aside`);
    // Another user creates it.
    const path = `/installs/${shop.id}/backups`;
    const made = await owner.client.post(path, { description: 'of nothing', notification_emails: [] });
    const backup = page.getByRole('listitem').filter({ hasText: 'of nothing' });
    for (let tries = 0; tries < 12; tries += 1) {
      await portal.homeport.idle();
      const { body } = await owner.client.get(`${path}/${text(made.body, 'id')}`);
      if (field(body, 'status') === 'aborted') break;
      clock.advance(5 * MINUTE_MS);
    }
    await backup.getByText('aborted').waitFor();
    await backup
      .getByText(/^[A-Z].*\. The website is not affected\. Try again, or create another one\.$/)
      .waitFor();
    renameSync(`${files}.aside`, files);
  });

  onlyInLong(it)(
    'are shown as missing while the storage does not have them, and cannot be restored',
    async () => {
      const path = `/installs/${shop.id}/backups`;
      const made = await owner.client.post(path, { description: 'of a lost disk', notification_emails: [] });
      await portal.homeport.idle();
      const mark = (missing_since: string | null) =>
        portal.homeport.platform.database.write(({ queries }) =>
          queries
            .updateTable('backups')
            .set({ missing_since })
            .where('id', '=', text(made.body, 'id'))
            .execute(),
        );
      await mark(clock.now().toISOString());
      await showBackups(shop);
      const backup = page.getByRole('listitem').filter({ hasText: 'of a lost disk' });
      await backup.getByText('Missing', { exact: true }).waitFor();
      await backup
        .getByText(/^The backup storage has not had this backup since .* Ask your provider/)
        .waitFor();
      expect(await backup.getByRole('button').allInnerTexts()).toEqual(['Delete']);
      // The page follows the database.
      await mark(null);
      await backup.getByRole('button', { name: 'Restore of a lost disk' }).waitFor();
    },
  );

  onlyInLong(it)('are restored into another install, which shows the result', async () => {
    writePage(shop, 'of the first');
    await owner.client.post(`/installs/${shop.id}/backups`, { description: 'copy', notification_emails: [] });
    await portal.homeport.idle();
    await showBackups(shop);
    await page.getByRole('button', { name: 'Restore copy' }).click();
    await page.getByRole('dialog').getByRole('radio', { name: 'Another install' }).check();
    await page
      .getByRole('dialog')
      .getByRole('radio', { name: new RegExp(`^${other.name} `) })
      .check();
    await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click();
    const confirm = page.getByRole('alertdialog');
    await confirm.getByLabel(/^Type/).fill(other.name);
    await confirm.getByRole('button', { name: `Restore ${other.name}` }).click();
    await page.waitForURL(`**/installs/${other.id}/backups`);
    await page.getByRole('listitem').filter({ hasText: 'Restoring a backup' }).getByText('Done').waitFor();
    expect(await website(other)).toBe('of the first');
  });

  onlyInLong(it)('are deleted after a confirmation, unless they are in use', async () => {
    await showBackups(shop);
    const release = await holdUp(shop);
    const { body } = await owner.client.get(`/installs/${shop.id}/backups?limit=100`);
    const results = field(body, 'results');
    const backup = Array.isArray(results) ? results.find((one) => field(one, 'description') === 'copy') : {};
    const path = `/installs/${shop.id}/backups/${field(backup, 'id')}/restore`;
    await owner.client.post(path, { notification_emails: [], create_checkpoint: false });
    const item = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name: 'copy', exact: true }) });
    await item.getByRole('button', { name: 'More actions for copy' }).click();
    await item.getByRole('button', { name: 'Delete' }).click();
    const confirm = page.getByRole('alertdialog', { name: 'Delete the backup?' });
    // Enter changes nothing.
    await expect.poll(() => focused(page)).toBe('Cancel');
    await expectAccessibleInLong(page);
    await confirm.getByRole('button', { name: 'Delete backup' }).click();
    await confirm
      .getByText('The backup is being restored, copied or packed. Delete it after that.')
      .waitFor();
    await release();
    await confirm.getByRole('button', { name: 'Delete backup' }).click();
    await confirm.waitFor({ state: 'detached' });
    await item.waitFor({ state: 'detached' });
  });

  onlyInLong(it)(
    'copy an install into another, which shows a notice, and are deleted afterwards',
    async () => {
      writePage(shop, 'as visitors see it');
      writePage(other, 'as it was tried');
      const release = await holdUp(shop);
      await page.goto(`/installs/${shop.id}/settings`);
      const copy = page.getByRole('button', { name: 'Copy to another install' });
      await copy.click();
      const dialog = page.getByRole('dialog');
      // An install cannot be copied into itself, and the person chooses the target.
      await dialog.getByRole('radio').first().waitFor();
      await expect.poll(() => dialog.getByRole('radio').count()).toBe(3);
      await expect.poll(() => dialog.getByRole('radio', { checked: true }).count()).toBe(0);
      await dialog.getByRole('radio', { name: `${live.name} Production Production of Live` }).waitFor();
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await dialog.getByText('Choose the install to replace.').waitFor();
      await expectBothThemesInLong(page);
      await expectRoomWhenNarrow(page);
      await dialog.getByRole('radio', { name: /Production/ }).check();
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('alertdialog').getByText('This is a production install').waitFor();
      await expectBothThemesInLong(page);
      await page.keyboard.press('Escape');
      await copy.click();
      await expect.poll(() => dialog.getByRole('radio', { checked: true }).count()).toBe(0);
      await dialog.getByRole('radio', { name: new RegExp(`^${other.name} `) }).check();
      await dialog.getByRole('button', { name: 'Continue' }).click();
      const confirm = page.getByRole('alertdialog', { name: `Replace ${other.name}` });
      await confirm.waitFor();
      await expectAccessibleInLong(page);
      await page.keyboard.press('Escape');
      await expect.poll(() => focused(page)).toBe('Copy to another install');
      await page.keyboard.press('Enter');
      await dialog.getByRole('radio', { name: new RegExp(`^${other.name} `) }).check();
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await confirm.getByLabel(/^Type/).fill(other.name);
      await confirm.getByRole('button', { name: `Replace ${other.name}` }).click();
      await page.waitForURL(`**/installs/${other.id}/backups`);
      const coming = page
        .getByRole('status')
        .filter({ hasText: 'Changes that you make before it finishes are lost' });
      await coming.getByText('has not begun yet').waitFor();
      await expectBothThemesInLong(page);
      await expectRoomWhenNarrow(page);
      await showBackups(shop);
      const backup = page.getByRole('listitem').filter({ hasText: 'Copy into another install' });
      await backup.getByText('deleted after the copy').waitFor();
      await expect.poll(() => backup.getByRole('button').count()).toBe(0);
      await showBackups(other);
      await coming.waitFor();
      await release();
      // A job that waits or is retried needs the clock to advance.
      await expect
        .poll(async () => {
          await portal.homeport.idle();
          clock.advance(MINUTE_MS);
          return website(other);
        })
        .toBe('as visitors see it');
      await portal.homeport.idle();
      await coming.waitFor({ state: 'detached' });
      await page
        .getByRole('listitem')
        .filter({ hasText: `Copying ${shop.name} into this install` })
        .getByText('Done')
        .waitFor();
      // The checkpoint of the target.
      await page.getByRole('button', { name: 'Restore checkpoint', exact: true }).waitFor();
      await showBackups(shop);
      await page.getByRole('listitem').first().waitFor();
      await backup.waitFor({ state: 'detached' });
    },
  );
});
