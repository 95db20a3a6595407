import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ManualClock, manualClock } from '../../src/clock.ts';
import { field, text } from '../client.ts';
import { visit } from '../edge.ts';
import type { Person } from '../homeport.ts';
import { type S3Server, startS3Server } from '../servers/s3-server.ts';
import { expectAccessible, type Portal, startPortal } from './portal.ts';

let storage: S3Server;
let clock: ManualClock;
let portal: Portal;
let owner: Person;
let accountId: string;
let page: Page;

beforeAll(async () => {
  storage = await startS3Server({
    credentials: { accessKeyId: 'homeport', secretAccessKey: 'storage secret' },
  });
  clock = manualClock(new Date());
  portal = await startPortal({
    clock,
    environment: {
      HOMEPORT_S3_ENDPOINT: storage.url,
      // Not every resolver knows that `bucket.localhost` is this machine.
      HOMEPORT_S3_PATH_STYLE: 'true',
      HOMEPORT_S3_CREDENTIALS: 'homeport:storage secret',
    },
  });
  ({ accountId, owner } = await portal.homeport.ownedAccount());
  page = await portal.signedIn(owner);
});
afterAll(async () => {
  await portal?.remove();
  await storage?.close();
});

interface Install {
  id: string;
  name: string;
}

const newInstall = (): Promise<Install> => portal.homeport.install(owner, accountId);
const hostFolder = (...path: string[]) => join(portal.homeport.config.dataDir, 'host', ...path);

describe('the overview', () => {
  it('tells what an install is, and what was done to it', async () => {
    const install = await newInstall();
    await page.goto(`/installs/${install.id}`);
    await page.getByRole('heading', { name: install.name, level: 1 }).waitFor();
    const link = page.getByRole('link', { name: /^Open website/ });
    expect(await link.getAttribute('href')).toBe(
      `https://${install.name}.localhost:${portal.homeport.hosting?.edgeHttps.port}/`,
    );
    expect(await link.getAttribute('rel')).toContain('noopener');
    await page.getByText('Making the website').waitFor();
    await page.getByText('Done', { exact: true }).waitFor();
  });

  it('moves an install into a site', async () => {
    const install = await newInstall();
    const site = await owner.client.post('/sites', { name: 'Shop', account_id: accountId });
    expect(site.status).toBe(201);
    await page.goto(`/installs/${install.id}/overview`);
    await page.getByRole('button', { name: 'Move to another site' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Site').selectOption('Shop');
    await dialog.getByLabel('Environment').selectOption('staging');
    await dialog.getByRole('button', { name: 'Move' }).click();
    await page.getByText(/staging of Shop/).waitFor();
    expect((await owner.client.get(`/installs/${install.id}`)).body).toMatchObject({
      environment: 'staging',
      site: { id: text(site.body, 'id') },
    });
  });

  it('deletes an install once its name has been typed', async () => {
    const install = await newInstall();
    await page.goto(`/installs/${install.id}`);
    await page.getByRole('button', { name: `Delete ${install.name}` }).click();
    const dialog = page.getByRole('alertdialog');
    const confirm = dialog.getByRole('button', { name: 'Delete the install' });
    await dialog.getByLabel(/^Type/).fill('something else');
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel(/^Type/).fill(install.name);
    await confirm.click();
    await page.waitForURL(`**/accounts/${accountId}/installs`);
    expect((await owner.client.get(`/installs/${install.id}`)).status).toBe(404);
  });

  it('tells of one that could not be made why, and what to do', async () => {
    // A file where the folder of all installs should be.
    const folder = hostFolder('installs');
    renameSync(folder, `${folder}.aside`);
    writeFileSync(folder, '');
    const made = await owner.client.post('/installs', { name: 'doomed', account_id: accountId });
    const id = text(made.body, 'id');
    await page.goto(`/installs/${id}`);
    await page.getByText('doomed is being made').first().waitFor();
    for (let minutes = 0; minutes < 60; minutes += 5) {
      await portal.homeport.idle();
      const { body } = await owner.client.get(`/installs/${id}`);
      if (field(body, 'status') === 'failed') break;
      clock.advance(5 * 60_000);
    }
    // Without a reload.
    await page.getByText('doomed could not be made').waitFor();
    await page
      .getByText(/Delete this install and make it again/)
      .first()
      .waitFor();
    expect(await page.getByText('The reason is not kept any more').count()).toBe(0);
    await expectAccessible(page);
    renameSync(folder, `${folder}.file`);
    renameSync(`${folder}.aside`, folder);
  });
});

describe('caches', () => {
  it('are purged, the object cache once a minute', async () => {
    const install = await newInstall();
    await page.goto(`/installs/${install.id}/caches`);
    const purge = page.getByRole('button', { name: 'Purge the object cache' });
    await purge.click();
    await page.getByText(/It can be purged again in \d+ s/).waitFor();
    expect(await purge.isDisabled()).toBe(true);
    await page.getByRole('listitem').filter({ hasText: 'Purging a cache' }).getByText('Done').waitFor();
    clock.advance(60_000);
    await page.reload();
    await purge.click();
    await page.getByText(/It can be purged again in \d+ s/).waitFor();
    await page.getByRole('button', { name: 'Purge the page cache' }).click();
    const purges = page.getByRole('listitem').filter({ hasText: 'Purging a cache' });
    await expect.poll(() => purges.count()).toBe(3);
  });
});

describe('offloading', () => {
  it('is refused with a reason, and in force once the bucket has the validation file', async () => {
    const install = await newInstall();
    await page.goto(`/installs/${install.id}/offload`);
    await page.getByText('Nothing is offloaded.').waitFor();
    await page.getByLabel('Bucket', { exact: true }).fill('shop-files');
    await page.getByLabel('Region', { exact: true }).fill('us-east-1');
    await page.getByRole('button', { name: 'Add a path' }).click();
    // It has the focus.
    await page.keyboard.type('/downloads/');
    await page.getByRole('group', { name: 'Path 2' }).getByLabel('How').selectOption('permanent');
    await page.getByRole('group', { name: 'Path 1' }).getByLabel('Except').fill('/elsewhere');
    const submit = page.getByRole('button', { name: 'Check and put in force' });
    await submit.click();
    await page.getByRole('alert').getByText('/elsewhere is not below /wp-content/uploads/.').waitFor();
    await page
      .getByRole('group', { name: 'Path 1' })
      .getByLabel('Except')
      .fill('/wp-content/uploads/private');
    await submit.click();
    await page.getByText('The settings were refused').waitFor();

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the file' }).click(),
    ]);
    const content: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) content.push(Buffer.from(chunk));
    storage.put('shop-files', download.suggestedFilename(), Buffer.concat(content).toString());
    storage.put('shop-files', 'wp-content/uploads/logo.txt', 'from the bucket');
    await submit.click();
    await page.getByText('The settings are in force').waitFor();
    await page.getByText('/downloads/: visitors are redirected to the bucket').waitFor();
    await page.getByText('except /wp-content/uploads/private').waitFor();
    await portal.homeport.idle();
    const file = await visit(portal.homeport, `http://${install.name}.localhost/wp-content/uploads/logo.txt`);
    expect(file.body).toBe('from the bucket');
  });
});

describe('connecting', () => {
  it('tells the line to type, and where to put one’s key', async () => {
    const install = await newInstall();
    await page.goto(`/installs/${install.id}/connect`);
    await page.getByRole('button', { name: 'Copy the SFTP command' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `sftp -P ${portal.homeport.hosting?.ssh.port} ${install.name}@localhost`,
    );
    await page.getByRole('link', { name: 'Add an SSH key' }).click();
    await page.getByRole('heading', { name: 'SSH keys', level: 1 }).waitFor();
  });
});

describe('every part', () => {
  it('is accessible to a partial user, who is offered less', async () => {
    const install = await newInstall();
    const partial = await portal.homeport.person(accountId, 'partial', [install.id]);
    const theirs = await portal.signedIn(partial);
    await theirs.goto(`/installs/${install.id}`);
    await theirs.getByRole('heading', { name: 'Done of late' }).waitFor();
    expect(await theirs.getByRole('button', { name: /^(Delete|Move)/ }).count()).toBe(0);
    const loaded = {
      Domains: theirs.getByRole('button', { name: /^Certificate of/ }),
      Backups: theirs.getByRole('button', { name: 'Make a backup' }),
      Caches: theirs.getByRole('button', { name: 'Purge the CDN' }),
      Offload: theirs.getByRole('button', { name: 'Add a path' }),
      Connect: theirs.getByText('installs that were given to you'),
      Overview: theirs.getByRole('heading', { name: 'Done of late' }),
    };
    for (const [part, sign] of Object.entries(loaded)) {
      await theirs.getByRole('link', { name: part, exact: true }).click();
      await sign.waitFor();
      for (const [width, colorScheme] of [
        [360, 'light'],
        [1280, 'dark'],
      ] as const) {
        await theirs.emulateMedia({ colorScheme });
        await theirs.setViewportSize({ width, height: 900 });
        // Nothing but the colours differs in the dark.
        await expectAccessible(theirs, colorScheme === 'dark' ? ['color-contrast'] : undefined);
        expect(await theirs.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
    }
  });
});
