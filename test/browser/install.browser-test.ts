import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WordPressReading } from '../../src/hosting/contract/wordpress.ts';
import { serveMachine } from '../../src/hosting/remote/embedded-machine.fixture.ts';
import { DAY_MS, MINUTE_MS } from '../../src/lib/durations.ts';
import { field, text } from '../client.ts';
import { visit } from '../edge.ts';
import type { Person } from '../homeport.ts';
import { type ManualClock, manualClock } from '../manual-clock.ts';
import { onlyInLong } from '../rounds.ts';
import { type S3Server, startS3Server } from '../servers/s3-server.ts';
import { newSshKey } from '../ssh-key.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { expectAccessibleInLong, focused, type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

/** A WordPress as its host reads it. */
const WORDPRESS: WordPressReading = {
  core: { version: '6.8', update: { version: '6.9' } },
  plugins: [
    {
      file: 'cart/cart.php',
      name: 'Shop cart',
      version: '5.3',
      status: 'active',
      update: { version: '5.4' },
      autoUpdate: true,
    },
    { file: 'hello.php', name: 'Hello', version: null, status: 'inactive', update: null, autoUpdate: false },
  ],
  themes: [
    {
      stylesheet: 'twentytwentyfive',
      name: 'Twenty Twenty-Five',
      version: '1.2',
      status: 'active',
      parent: null,
      bundled: true,
      update: null,
      autoUpdate: false,
    },
  ],
  administrators: [
    { login: 'admin', email: 'me@shop.test', displayName: 'Me', registeredAt: '2026-01-31T09:30:00.000Z' },
  ],
  siteHealth: {
    good: 14,
    recommended: 2,
    critical: 0,
    issues: [{ label: 'Remove inactive plugins', severity: 'recommended' }],
  },
  multisite: false,
  isComplete: true,
  updateCheck: { core: null, plugins: null, themes: null },
  mark: 'a'.repeat(32),
};

let storage: S3Server;
let clock: ManualClock;
let portal: Portal;
let owner: Person;
let accountId: string;
let install: { id: string; name: string };
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
      // Not every resolver resolves `bucket.localhost`.
      HOMEPORT_S3_PATH_STYLE: 'true',
      HOMEPORT_S3_CREDENTIALS: 'homeport:storage secret',
    },
  });
  ({ accountId, owner } = await portal.homeport.ownedAccount());
  install = await portal.homeport.install(owner, accountId);
  page = await portal.signedIn(owner);
});
afterAll(async () => {
  await portal?.remove();
  await storage?.close();
});

/** Checks accessibility in both themes and the narrow layout. */
async function expectPresentable(): Promise<void> {
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
}

/** Follows a link without a reload. */
const follow = (name: string, on = page) => on.getByRole('link', { name, exact: true }).click();

beforeEach(async () => {
  await page.goto(`/installs/${install.id}`);
});

onlyInLong(it)('shows an error at an unknown section, with a link back', async () => {
  await page.goto(`/installs/${install.id}/nonsense`);
  await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
  await expect.poll(() => page.getByRole('heading').count()).toBe(1);
  await page.getByRole('navigation', { name: `Sections of ${install.name}` }).waitFor();
  await page.getByRole('main').getByRole('link', { name: install.name }).click();
  await page.waitForURL(`**/installs/${install.id}`);
});

describe('the overview', () => {
  it('shows an install and its recent activity', async () => {
    await page.getByRole('heading', { name: install.name, level: 1 }).waitFor();
    const link = page.getByRole('link', { name: /^Open website/ });
    await expect
      .poll(() => link.getAttribute('href'))
      .toBe(`http://${install.name}.localhost:${portal.homeport.hosting?.edgeHttp.port}/`);
    await expect.poll(() => link.getAttribute('rel')).toContain('noopener');
    await expect.poll(() => page.getByRole('link', { name: /WordPress admin/ }).count()).toBe(0);
    await page.getByText('Creating the website').waitFor();
    await page.getByText('Done', { exact: true }).waitFor();
    await expectPresentable();
  });

  onlyInLong(it)(
    'shows its state in short, with a link to each page, and what this host cannot do is not shown',
    async () => {
      const strip = page.getByRole('list', { name: `State of ${install.name}` });
      await strip.getByRole('link', { name: /^Certificate .*left/ }).waitFor();
      await strip.getByRole('link', { name: 'Last backup None yet' }).waitFor();
      await strip.getByRole('link', { name: 'Visits today 0' }).waitFor();
      const words = async () =>
        (await strip.getByRole('link').allTextContents()).map((label) => label.split(' ')[0]);
      await expect.poll(words).toEqual(['Primary', 'Certificate', 'Last', 'Disk', 'Visits']);
      await page.getByRole('button', { name: 'Create backup' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Create backup' }).click();
      await strip.getByRole('link', { name: /^Last backup .*Verified/ }).click();
      await page.getByRole('heading', { name: `${install.name}: Backups`, level: 1 }).waitFor();
    },
  );

  onlyInLong(it)(
    'shows charts by keyboard and as tables, and those that its host does not measure not at all',
    async () => {
      const today = clock.now().toISOString().slice(0, 10);
      const { database } = portal.homeport.platform;
      const counted = (pages: object) =>
        database.write(({ queries }) =>
          queries
            .insertInto('usage_traffic')
            .values({
              install_id: install.id,
              day: today,
              source: crypto.randomUUID(),
              account_id: accountId,
              requests: 1_300,
              bytes: 5_000_000,
              visits: 1_204,
              ...pages,
            })
            .execute(),
        );
      await page.getByText('No traffic yet. Charts appear here').waitFor();
      await counted({});
      await page.reload();
      const charts = page.getByRole('figure');
      await charts.first().getByText('1,204', { exact: true }).first().waitFor();
      await expect
        .poll(() => charts.locator('figcaption > :first-child').allTextContents())
        .toEqual(['Visits', 'Bandwidth']);
      await counted({ page_requests: 4, page_hits: 3, page_ms: 250 });
      await page.reload();
      await charts.filter({ hasText: 'Response time of pages' }).getByText('63 ms on average').waitFor();
      await charts.filter({ hasText: 'Pages from the cache' }).getByText('75 %', { exact: true }).waitFor();

      const day = charts.first().getByRole('slider', { name: 'Visits, day' });
      await day.focus();
      await expect.poll(() => day.getAttribute('aria-valuetext')).toMatch(/: 2,408$/);
      await page.keyboard.press('ArrowLeft');
      await expect.poll(() => day.getAttribute('aria-valuetext')).toMatch(/: no measurement$/);
      await charts.first().getByRole('button', { name: 'Visits as a table' }).press('Enter');
      const table = charts.first().getByRole('table', { name: 'Visits by day' });
      await expect.poll(() => table.getByRole('row').count()).toBe(31);
      await table.getByRole('row', { name: `${today} 2,408` }).waitFor();
      await expectPresentable();
      await page.setViewportSize({ width: 320, height: 800 });
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await page.setViewportSize({ width: 1280, height: 900 });
    },
  );

  onlyInLong(it)('says why an install needs attention, and what to do', async () => {
    await owner.client.post(`/installs/${install.id}/domains`, { name: 'elsewhere.example' });
    const setReached = (reached: boolean | null) =>
      portal.homeport.platform.database.write(({ queries }) =>
        queries.updateTable('domains').set({ reached }).where('name', '=', 'elsewhere.example').execute(),
      );
    await page.getByText('Active', { exact: true }).waitFor();
    await setReached(false);
    await page.getByText(`${install.name} needs attention`).waitFor();
    await page.getByText('Correct its DNS records and check it again').waitFor();
    await page.getByText('Needs attention', { exact: true }).waitFor();
    await expect.poll(() => page.getByText('Active', { exact: true }).count()).toBe(0);
    await expectPresentable();
    await page.getByRole('link', { name: /^elsewhere\.example does not point here/ }).click();
    await page.getByRole('heading', { name: `${install.name}: Domains`, level: 1 }).waitFor();
    // The title of the page says it once.
    await page.getByRole('button', { name: 'Add domains' }).waitFor();
    expect(await page.getByRole('heading').count()).toBe(1);
    await setReached(true);
    await page.getByText('Active', { exact: true }).waitFor();
    expect((await owner.client.get(`/installs/${install.id}/domains`)).status).toBe(200);
  });

  onlyInLong(it)(
    'says that a website is closed because data is missing, and restores its newest backup',
    async () => {
      await owner.client.post(`/installs/${install.id}/backups`, {
        description: 'Before the loss',
        notification_emails: [],
      });
      await portal.homeport.idle();
      await page.getByText('Active', { exact: true }).waitFor();
      await portal.homeport.platform.database.write(({ queries }) =>
        queries
          .updateTable('installs')
          .set({ lost_data: 'wp-config.php is missing. The database is missing.' })
          .where('id', '=', install.id)
          .execute(),
      );
      const title = page.getByText(`${install.name} is closed to visitors, because data is missing`);
      await title.waitFor();
      await page.getByText('wp-config.php is missing. The database is missing. Visitors see').waitFor();
      await page.getByText(/^Its newest backup is of .*, verified/).waitFor();
      await page.getByText('Needs attention', { exact: true }).waitFor();
      await expectPresentable();
      await follow('Home');
      await page.getByRole('link', { name: /^The website is closed to visitors, because data/ }).waitFor();
      await follow('Installs');
      await page.getByRole('cell', { name: 'Needs attention' }).waitFor();
      await follow(install.name);
      await page.getByRole('button', { name: 'Restore newest backup' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(`Restore "Before the loss"`).waitFor();
      const checkpoint = dialog.getByRole('checkbox', { name: /^Make a checkpoint/ });
      await expect.poll(() => checkpoint.isChecked()).toBe(false);
      await dialog.getByRole('button', { name: 'Continue' }).click();
      const confirm = page.getByRole('alertdialog');
      await confirm.getByLabel(/^Type/).fill(install.name);
      await confirm.getByRole('button', { name: `Restore ${install.name}` }).click();
      await title.waitFor({ state: 'hidden' });
      await page.getByText('Active', { exact: true }).waitFor();
    },
  );

  onlyInLong(it)('offers a partial user fewer actions', async () => {
    const partial = await portal.homeport.person(accountId, 'partial', [install.id]);
    const theirs = await portal.signedIn(partial);
    await follow('Installs', theirs);
    await follow(install.name, theirs);
    await theirs.getByRole('heading', { name: 'Recent activity' }).waitFor();
    await follow('Settings', theirs);
    await theirs.getByRole('button', { name: 'Copy to another install' }).waitFor();
    await expect.poll(() => theirs.getByRole('button', { name: /^(Delete|Move)/ }).count()).toBe(0);
    await follow('Access', theirs);
    await theirs.getByText('installs that you have access to').waitFor();
    await theirs.context().close();
  });

  onlyInLong(it)('moves an install into a site', async () => {
    const site = await owner.client.post('/sites', { name: 'Shop', account_id: accountId });
    expect(site.status).toBe(201);
    await follow('Settings');
    await page.getByRole('button', { name: 'Move to another site' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Site' }).selectOption('Shop');
    await dialog.getByLabel('Environment').selectOption('staging');
    await dialog.getByRole('button', { name: 'Move' }).click();
    await page.getByText(/Staging of Shop/).waitFor();
    expect((await owner.client.get(`/installs/${install.id}`)).body).toMatchObject({
      environment: 'staging',
      site: { id: text(site.body, 'id') },
    });
  });
});

onlyInLong(describe)('the sidebar', () => {
  onlyInLong(it)('has the places of the install, and tabs between pages that belong together', async () => {
    const places = page.getByRole('navigation', { name: `Sections of ${install.name}` });
    const labels = async () => (await places.getByRole('link').allTextContents()).join(' · ');
    await places.waitFor();
    // A website of files has the same places; those of WordPress say why they are empty.
    const all =
      'Overview · Domains · WordPress · Backups · Logs · Usage · Caches · Offload · Access · Settings';
    await expect.poll(labels).toBe(all);
    await follow('WordPress');
    await page.getByText('This website consists of files, without WordPress.').waitFor();
    await follow('Logs');
    await page.getByRole('heading', { name: `${install.name}: Logs`, level: 1 }).waitFor();
    await expectPresentable();
    await follow('Access');
    await page.getByRole('heading', { name: `${install.name}: Connect`, level: 1 }).waitFor();
    await follow('Protection');
    await page.getByRole('heading', { name: `${install.name}: Protection`, level: 1 }).waitFor();
    await expect
      .poll(() => places.locator('[aria-current="location"]').allTextContents())
      .toEqual(['Access']);
    await expect.poll(() => page.locator('[aria-current="page"]').allTextContents()).toEqual(['Protection']);
    const become = (runtime: 'wordpress' | 'static', php_version: string | null) =>
      portal.homeport.platform.database.write(({ queries }) =>
        queries.updateTable('installs').set({ runtime, php_version }).where('id', '=', install.id).execute(),
      );
    await become('wordpress', '8.4');
    await page.getByRole('button', { name: 'Sign in to WordPress' }).waitFor();
    await follow('WordPress');
    await page.getByText('The operator can switch it on with HOMEPORT_EMBEDDED_PHP_MB.').waitFor();
    await follow('Access');
    await page.getByText('The embedded host offers SFTP, without a shell.').waitFor();
    await page.getByText('The operator can switch it on with HOMEPORT_EMBEDDED_PHP_MB.').waitFor();
    await expect.poll(labels).toBe(all);
    await become('static', null);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByRole('button', { name: 'Menu' }).press('Enter');
    await expectBothThemesInLong(page);
    await places.getByRole('link', { name: 'Settings' }).press('Enter');
    await page.getByRole('heading', { name: `${install.name}: Settings`, level: 1 }).waitFor();
    await places.waitFor({ state: 'hidden' });
    await page.setViewportSize({ width: 1280, height: 900 });
    await expectPresentable();
  });
});

onlyInLong(describe)('caches', () => {
  onlyInLong(it)('are purged if the install has them', async () => {
    await follow('Caches');
    await page.getByRole('button', { name: 'Purge page cache' }).click();
    const purge = page.getByRole('listitem').filter({ hasText: 'Purging the page cache' });
    await purge.getByText('Done').waitFor();
    await page.getByText('This website has no object cache.').waitFor();
    await page.getByText('This platform has no CDN').waitFor();
    await expect
      .poll(() => page.getByRole('button', { name: /^Purge/ }).allTextContents())
      .toEqual(['Purge page cache', 'Purge these pages']);
    await expectPresentable();
  });

  onlyInLong(it)('purge single pages by address', async () => {
    await follow('Caches');
    const addresses = page.getByLabel('Addresses to purge');
    await addresses.fill('/news/\nhttps://other.example/news/');
    await page.getByRole('button', { name: 'Purge these pages' }).click();
    await page.getByText('https://other.example/news/ is not an address of this website.').waitFor();
    await expectPresentable();
    await addresses.fill(`/news/\nhttp://${install.name}.localhost:8080/contact/?a=1#form`);
    await page.getByRole('button', { name: 'Purge these pages' }).click();
    const purge = page.getByRole('listitem').filter({ hasText: 'Purging 2 pages: /news/ and 1 more' });
    await purge.getByText('Done').waitFor();
    await expect.poll(() => addresses.inputValue()).toBe('');
    const list = await owner.client.get(`/operations?install_id=${install.id}&kind=cache.purge`);
    expect(list.body).toMatchObject({
      results: expect.arrayContaining([
        expect.objectContaining({ result: { cache: 'page', path_count: '2', paths: '/news/ /contact/' } }),
      ]),
    });
  });
});

describe('an install that runs WordPress', () => {
  let machine: Awaited<ReturnType<typeof serveMachine>>;
  let linux: Portal;
  let person: Person;
  let account: string;
  let theirs: Page;
  let shop: { id: string; name: string };
  let staging: { id: string; name: string };
  beforeAll(async () => {
    machine = await serveMachine();
    linux = await startPortal({
      environment: { HOMEPORT_HOST: 'linux', HOMEPORT_HOST_RUN_FOLDER: machine.runFolder },
    });
    ({ owner: person, accountId: account } = await linux.homeport.ownedAccount());
    const site = await person.client.post('/sites', { name: 'Shop', account_id: account });
    const place = (environment: string) => ({ site_id: text(site.body, 'id'), environment });
    shop = await linux.homeport.install(person, account, place('production'));
    staging = await linux.homeport.install(person, account, place('staging'));
    theirs = await linux.signedIn(person);
  });
  afterAll(async () => {
    await linux?.remove();
    await machine?.close();
  });

  onlyInLong(it)(
    'has an object cache that is purged once a minute, by a button that keeps the focus',
    async () => {
      await theirs.goto(`/installs/${shop.id}/caches`);
      await theirs.getByRole('button', { name: 'Purge object cache' }).press('Enter');
      await theirs.getByText(/You can purge it again in/).waitFor();
      expect(await focused(theirs)).toBe('Purge object cache');
      // A purge of all caches would empty the object cache too.
      await theirs.getByText(/You can purge them again in/).waitFor();
      const sent: string[] = [];
      theirs.on('request', (request) => sent.push(request.method()));
      await theirs.keyboard.press('Enter');
      expect(sent).not.toContain('POST');
      await expectAccessibleInLong(theirs);
    },
  );

  it('is signed in to in a new tab, which knows nothing of the portal', async () => {
    const address = `http://${shop.name}.localhost:${machine.description.ports.http}`;
    const token = 'a'.repeat(43);
    machine.machine.createLogin = async () => ({
      token,
      expiresAt: new Date(Date.now() + MINUTE_MS).toISOString(),
      user: 'admin',
    });
    await theirs.goto(`/installs/${shop.id}`);
    const button = theirs.getByRole('button', { name: /^Sign in to WordPress/ });
    const asked = theirs.context().waitForEvent('request', (request) => request.url().startsWith(address));
    const [tab] = await Promise.all([theirs.context().waitForEvent('page'), button.click()]);
    const request = await asked;
    expect(request.url()).toBe(`${address}/.well-known/homeport-login?token=${token}`);
    expect(await request.allHeaders()).not.toHaveProperty('referer');
    await tab.waitForURL(`${address}/**`);
    await expect.poll(() => tab.evaluate('window.opener')).toBeNull();
    await tab.close();

    const reason = 'This WordPress has no administrator. Name another user.';
    machine.machine.createLogin = async () => ({ refused: 'website', reason });
    const [closing] = await Promise.all([theirs.context().waitForEvent('page'), button.click()]);
    await theirs.getByText(reason).waitFor();
    await expect.poll(() => closing.isClosed()).toBe(true);
    await expectAccessibleInLong(theirs);
  });

  onlyInLong(it)('opens its database in a new tab', async () => {
    const address = `http://${shop.name}.localhost:${machine.description.ports.http}`;
    const token = `1769851860.${'a'.repeat(43)}`;
    machine.machine.createDatabaseLink = async () => ({
      token,
      expiresAt: new Date(Date.now() + MINUTE_MS).toISOString(),
    });
    await theirs.goto(`/installs/${shop.id}`);
    await follow('Access', theirs);
    const button = theirs.getByRole('button', { name: /^Open the database/ });
    const asked = theirs.context().waitForEvent('request', (request) => request.url().startsWith(address));
    const [tab] = await Promise.all([theirs.context().waitForEvent('page'), button.click()]);
    expect((await asked).url()).toBe(`${address}/.well-known/homeport-database/?token=${token}`);
    await tab.close();
    await expectAccessibleInLong(theirs);
  });

  onlyInLong(it)(
    'shows its plugins, themes, administrators and Site Health, and reads them again',
    async () => {
      const reason = 'WordPress does not start. Check wp-config.php and the database: it printed nothing';
      machine.machine.readWordPress = async () => ({ refused: 'website', reason, mark: null });
      await theirs.goto(`/installs/${shop.id}`);
      await follow('WordPress', theirs);
      const refresh = theirs.getByRole('button', { name: 'Refresh' });
      await refresh.click();
      const problem = theirs.getByText('The website could not be read');
      await problem.waitFor();
      await theirs.getByText(reason).first().waitFor();
      machine.machine.readWordPress = async () => WORDPRESS;
      const { database } = linux.homeport.platform;
      await database.write(({ queries }) => queries.deleteFrom('install_limits').execute());
      await refresh.click();
      const plugins = theirs.getByRole('table', { name: 'Installed plugins' });
      await plugins.getByRole('row', { name: /Shop cart.*Active.*5\.3.*5\.4/ }).waitFor();
      await theirs.getByRole('table', { name: 'Installed themes' }).getByText('with WordPress').waitFor();
      await theirs.getByRole('row', { name: /admin.*me@shop\.test/ }).waitFor();
      await theirs.getByRole('listitem').filter({ hasText: 'Remove inactive plugins' }).waitFor();
      await expect.poll(() => problem.count()).toBe(0);
      await expectBothThemesInLong(theirs);
      await expectRoomWhenNarrow(theirs);
      await follow('Overview', theirs);
      await theirs.getByRole('link', { name: 'Updates: WordPress 6.9 and 1 plugin' }).click();
      await plugins.waitFor();
      await follow('Installs', theirs);
      // Another install may have been read in the meantime.
      const link = theirs.getByRole('link', { name: shop.name, exact: true });
      const row = theirs.getByRole('row').filter({ has: link });
      await row.getByRole('link', { name: 'WordPress 6.9 and 1 plugin' }).waitFor();
      await expectAccessibleInLong(theirs);
      await expectRoomWhenNarrow(theirs);
    },
  );

  onlyInLong(it)('has all its caches purged at once', async () => {
    await theirs.goto(`/installs/${staging.id}/caches`);
    await theirs.getByRole('button', { name: 'Purge all caches' }).click();
    await theirs.getByRole('listitem').filter({ hasText: 'Purging all caches' }).getByText('Done').waitFor();
    await theirs.getByText(/You can purge it again in/).waitFor();
    await expectAccessibleInLong(theirs);
  });

  onlyInLong(it)('offers to purge all caches of many installs', async () => {
    const { name } = await linux.homeport.install(person, account);
    await follow('Installs', theirs);
    await theirs.getByRole('link', { name, exact: true }).waitFor();
    await theirs.getByRole('checkbox', { name: `Select ${name}` }).check();
    await theirs.getByRole('button', { name: 'Bulk actions' }).click();
    const dialog = theirs.getByRole('dialog', { name: 'Bulk actions' });
    await dialog.getByRole('radio', { name: 'Purge all caches' }).check();
    await expectAccessibleInLong(theirs);
    await dialog.getByRole('button', { name: 'Start for 1 install' }).click();
    await dialog.getByText('1 of 1 finished').waitFor();
    await dialog.getByRole('link', { name }).click();
    await theirs.getByText('Purging all caches', { exact: true }).waitFor();
  });

  onlyInLong(it)('has upgrades of WordPress deferred until a day, and the deferral ended', async () => {
    await theirs.goto(`/installs/${shop.id}/settings`);
    await theirs.getByRole('button', { name: 'Defer upgrades' }).click();
    const dialog = theirs.getByRole('dialog', { name: 'Defer WordPress upgrades' });
    const day = dialog.getByLabel('Defer until');
    const [first, last] = [await day.getAttribute('min'), await day.getAttribute('max')];
    expect(Date.parse(last ?? '') - Date.parse(first ?? '')).toBe(364 * DAY_MS);
    await expectBothThemesInLong(theirs);
    await expectRoomWhenNarrow(theirs);
    await day.fill(last ?? '');
    await dialog.getByRole('button', { name: 'Defer' }).click();
    await theirs.getByText(/^Deferred until .*security fixes wait, too\.$/).waitFor();
    await expectBothThemesInLong(theirs);
    await theirs.getByRole('button', { name: 'End deferral' }).press('Enter');
    await theirs.getByText('Your provider upgrades WordPress.').waitFor();
  });

  onlyInLong(it)(
    'is copied in parts, and without typing its name unless visitors see the target',
    async () => {
      await theirs.goto(`/installs/${shop.id}/settings`);
      await theirs.getByRole('button', { name: 'Copy to another install' }).click();
      const dialog = theirs.getByRole('dialog');
      await dialog.getByRole('radio', { name: `${staging.name} Staging of Shop` }).check();
      await dialog.getByRole('radio', { name: 'Files only' }).check();
      await expect.poll(() => dialog.getByLabel('Only these tables').count()).toBe(0);
      await dialog.getByRole('radio', { name: 'Database only' }).check();
      await dialog.getByLabel('Only these tables').fill('wp_posts, wp_postmeta');
      await expectBothThemesInLong(theirs);
      await expectRoomWhenNarrow(theirs);
      await dialog.getByRole('button', { name: 'Continue' }).click();
      const confirm = theirs.getByRole('alertdialog');
      await confirm
        .getByText(`This replaces 2 tables of the database of ${staging.name} with those of ${shop.name}.`)
        .waitFor();
      await confirm.getByText(`${staging.name} keeps its files, other tables, name`).waitFor();
      await expect.poll(() => confirm.getByLabel(/^Type/).count()).toBe(0);
      const [asked] = await Promise.all([
        theirs.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/copy')),
        confirm.getByRole('button', { name: `Replace ${staging.name}` }).click(),
      ]);
      expect(asked.postDataJSON()).toEqual({
        into_install_id: staging.id,
        keep_backup: false,
        create_checkpoint: true,
        include_files: false,
        include_db: true,
        db_tables: ['wp_posts', 'wp_postmeta'],
      });
      await theirs.waitForURL(`**/installs/${staging.id}/backups`);
    },
  );
});

onlyInLong(describe)('offloading', () => {
  onlyInLong(it)(
    'is rejected with a reason, and active once the bucket has the validation file',
    async () => {
      await follow('Offload');
      await page.getByText('No files are offloaded.').waitFor();
      await page.getByLabel('Bucket', { exact: true }).fill('shop-files');
      await page.getByLabel('Region', { exact: true }).fill('us-east-1');
      await page.getByRole('button', { name: 'Add path' }).click();
      // The new field has the focus.
      await page.keyboard.type('/downloads/');
      await page.getByRole('group', { name: 'Path 2' }).getByLabel('Method').selectOption('permanent');
      await page.getByRole('group', { name: 'Path 1' }).getByLabel('Excluded paths').fill('/elsewhere');
      const submit = page.getByRole('button', { name: 'Check and activate' });
      await submit.click();
      await page.getByText('/elsewhere is not below /wp-content/uploads/.').waitFor();
      await page
        .getByRole('group', { name: 'Path 1' })
        .getByLabel('Excluded paths')
        .fill('/wp-content/uploads/private');
      await submit.click();
      const verdict = page.getByText('The settings were rejected');
      await verdict.waitFor();
      // Nobody has to scroll to it from the button.
      const box = await verdict.boundingBox();
      expect(box?.y).toBeGreaterThanOrEqual(0);
      expect(box?.y).toBeLessThan(page.viewportSize()?.height ?? 0);
      // The message follows the operation.
      await page.getByText('Checking the bucket.', { exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Dismiss this message' }).click();
      await expectPresentable();

      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download file' }).click(),
      ]);
      const content: Buffer[] = [];
      for await (const chunk of await download.createReadStream()) content.push(Buffer.from(chunk));
      storage.put('shop-files', download.suggestedFilename(), Buffer.concat(content).toString());
      storage.put('shop-files', 'wp-content/uploads/logo.txt', 'from the bucket');
      await submit.click();
      await page.getByText('The settings are active').waitFor();
      await page.getByText('The offload settings are active.').waitFor();
      await page.getByText('/downloads/: visitors are redirected to the bucket').waitFor();
      await page.getByText('except /wp-content/uploads/private').waitFor();
      await portal.homeport.idle();
      const file = await visit(
        portal.homeport,
        `http://${install.name}.localhost/wp-content/uploads/logo.txt`,
      );
      expect(file.body).toBe('from the bucket');

      await page.getByRole('button', { name: 'Switch offload off' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Switch off' }).click();
      await page.getByText('No files are offloaded.').waitFor();
    },
  );
});

onlyInLong(describe)('connecting', () => {
  onlyInLong(it)('shows the command and where to add a key', async () => {
    await follow('Access');
    await page.getByText('to connect immediately').waitFor();
    await expectPresentable();
    await page.getByRole('button', { name: 'Copy the SFTP command' }).click();
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toBe(`sftp -P ${portal.homeport.hosting?.ssh.port} ${install.name}@localhost`);
    await page.getByText(/^SHA256:[A-Za-z0-9+/]{43}$/).waitFor();
    await page.getByRole('button', { name: 'Copy the ED25519 line for known_hosts' }).click();
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toMatch(
        new RegExp(`^\\[localhost\\]:${portal.homeport.hosting?.ssh.port} ssh-ed25519 [A-Za-z0-9+/]+$`),
      );
    await page.getByRole('link', { name: 'Add an SSH key' }).click();
    await page.getByRole('heading', { name: 'SSH keys', level: 1 }).waitFor();
    const public_key = `${newSshKey().public.trim()} laptop`;
    expect((await owner.client.post('/ssh_keys', { public_key })).status).toBe(201);
    await page.goto(`/installs/${install.id}/connect`);
    await page.getByText('Connect with your SSH key laptop.').waitFor();
  });
});

describe('an install', () => {
  it('is deleted after typing its name', async () => {
    const site = await owner.client.post('/sites', { name: 'Closing down', account_id: accountId });
    const doomed = await portal.homeport.install(owner, accountId, {
      site_id: text(site.body, 'id'),
      environment: 'production',
    });
    await follow('Installs');
    await follow(doomed.name);
    await follow('Settings');
    await page.getByRole('button', { name: `Delete ${doomed.name}` }).click();
    const dialog = page.getByRole('alertdialog');
    const confirm = dialog.getByRole('button', { name: 'Delete install' });
    await dialog.getByLabel(/^Type/).fill('something else');
    await expect.poll(() => confirm.isDisabled()).toBe(true);
    await dialog.getByLabel(/^Type/).fill(doomed.name);
    await confirm.click();
    // The site that it belonged to.
    await page.getByRole('heading', { name: 'Closing down', level: 1 }).waitFor();
    expect((await owner.client.get(`/installs/${doomed.id}`)).status).toBe(404);
    // The deletion is undone as soon as the last backup is made.
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText(`${doomed.name} is restored.`).waitFor();
    expect((await owner.client.get(`/installs/${doomed.id}`)).status).toBe(200);
  });

  onlyInLong(it)('that could not be created shows why and what to do', async () => {
    // A file where the folder of all installs should be.
    const folder = join(portal.homeport.config.dataDir, 'host/installs');
    renameSync(folder, `${folder}.aside`);
    writeFileSync(folder, '');
    const made = await owner.client.post('/installs', { name: 'doomed', account_id: accountId });
    const id = text(made.body, 'id');
    await follow('Installs');
    await follow('doomed');
    await page.getByText('doomed is being created').first().waitFor();
    for (let minutes = 0; minutes < 60; minutes += 5) {
      await portal.homeport.idle();
      const { body } = await owner.client.get(`/installs/${id}`);
      if (field(body, 'status') === 'failed') break;
      clock.advance(5 * MINUTE_MS);
    }
    // Without a reload.
    await page.getByText('doomed could not be created').waitFor();
    await page
      .getByText(/Try again, or delete this install/)
      .first()
      .waitFor();
    await expect.poll(() => page.getByText('The reason is no longer available').count()).toBe(0);
    await expectAccessibleInLong(page);
    renameSync(folder, `${folder}.file`);
    renameSync(`${folder}.aside`, folder);
    await page.getByRole('button', { name: 'Try again: creating doomed' }).click();
    await page.getByText('doomed is being created').first().waitFor();
    // The removal of what the failure left comes first, and waits for its next attempt.
    for (let minutes = 0; minutes < 60; minutes += 5) {
      await portal.homeport.idle();
      if (field((await owner.client.get(`/installs/${id}`)).body, 'status') === 'active') break;
      clock.advance(5 * MINUTE_MS);
    }
    await page.getByText('doomed is being created').first().waitFor({ state: 'detached' });
    expect((await owner.client.get(`/installs/${id}`)).body).toMatchObject({ status: 'active' });
  });
});
