import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { environment } from '../../src/features/hosts/fleet.fixture.ts';
import { storeReading } from '../../src/features/websites/wordpress/store.ts';
import type { WordPressReading } from '../../src/hosting/contract/wordpress.ts';
import type { ItemChange } from '../../src/hosting/contract/wordpress-changes.ts';
import { type ServedMachine, serveMachine } from '../../src/hosting/remote/embedded-machine.fixture.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

const plugin = { version: '1.0', update: null, autoUpdate: false };
const theme = { ...plugin, parent: null, bundled: false };
const READING: WordPressReading = {
  core: { version: '6.8.7', update: null },
  plugins: [
    { ...plugin, file: 'akismet/akismet.php', name: 'Akismet', status: 'active', update: { version: '1.1' } },
    { ...plugin, file: 'shop/shop.php', name: 'Shop', status: 'inactive', update: { version: '2.0' } },
    { ...plugin, file: 'hello.php', name: 'Hello Dolly', status: 'inactive' },
    { ...plugin, file: 'homeport.php', name: 'Homeport', status: 'must_use' },
  ],
  themes: [
    { ...theme, stylesheet: 'harbour', name: 'Harbour', status: 'active' },
    { ...theme, stylesheet: 'twenty', name: 'Twenty Twenty-Five', status: 'inactive', bundled: true },
  ],
  administrators: [],
  siteHealth: null,
  multisite: false,
  isComplete: true,
  updateCheck: null,
  mark: 'a'.repeat(32),
};

const DIFFERENT = 'the home page answers 503, and 200 before';

let machine: ServedMachine;
let portal: Portal;
let page: Page;
let accountId: string;
let changes: ItemChange[];

beforeAll(async () => {
  changes = [];
  machine = await serveMachine();
  machine.machine.readWordPress = async () => READING;
  machine.machine.changeItem = async (_install, { change }) => {
    changes.push(change);
    if (change.id === 'shop/shop.php' || change.id === 'akismet/akismet.php') {
      return change.keep
        ? { changed: { id: 'shop/shop.php', name: 'Shop', version: '1.0', warning: DIFFERENT } }
        : { rolledBack: DIFFERENT, mayKeep: true };
    }
    return { changed: { id: 'hello.php', name: 'Hello Dolly', version: '1.0' } };
  };
  machine.machine.planUpdates = async (_install, { plugins }) => ({
    updates:
      plugins === 'all'
        ? []
        : plugins.map((id) => ({ kind: 'plugin' as const, id, name: id, from: '1.0', to: '2.0' })),
    refused: [],
  });
  machine.machine.updateWordpress = async (_install, { updates }) => ({
    made: [...updates],
    skipped: [],
    rolledBack: null,
    restored: false,
    wordpressVersion: '6.8.7',
  });
  portal = await startPortal({ environment: environment(machine.runFolder) });
  const made = await portal.homeport.ownedAccount();
  accountId = made.accountId;
  const install = await portal.homeport.install(made.owner, accountId);
  await portal.homeport.platform.database.write((transaction) =>
    storeReading(transaction, install.id, READING, new Date().toISOString()),
  );
  page = await portal.signedIn(made.owner, { at: `/installs/${install.id}/wordpress` });
});
afterAll(async () => {
  await portal?.remove();
  await machine?.close();
});

const choose = async (name: string, entry: string) => {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('button', { name: entry, exact: true }).click();
};

it('shows no header of an empty cell on phones', async () => {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 1600 });
  const updates = page.getByRole('region', { name: 'Installed plugins' }).locator('[data-header="Update"]');
  await expect
    .poll(() => updates.evaluateAll((cells) => cells.map((cell) => cell.textContent?.trim())))
    .toEqual(['1.1', '2.0', '', '']);
  await expect.poll(() => updates.filter({ visible: true }).count()).toBe(2);
  if (before) await page.setViewportSize(before);
});

onlyInLong(it)('changes plugins, says why a change was rolled back, and keeps it on request', async () => {
  await choose('Hello Dolly', 'Activate');
  await page.getByText('Hello Dolly is active.').waitFor();
  await choose('Shop', 'Activate');
  await page.getByText(`The change was rolled back: ${DIFFERENT}.`).first().waitFor();
  await page.getByRole('button', { name: 'Change Shop despite the differences' }).waitFor();
  // An equal message leaves the first one its next step.
  await choose('Akismet', 'Deactivate');
  const keep = page.getByRole('button', { name: 'Change Akismet despite the differences' });
  await keep.waitFor();
  await page.getByRole('button', { name: 'Change Shop despite the differences' }).click();
  await page.getByText(`Shop is active. Warning: ${DIFFERENT}.`).waitFor();
  await page.getByRole('button', { name: 'Dismiss this message' }).last().click();
  await page.getByRole('button', { name: 'Dismiss this message' }).click();
  await keep.waitFor({ state: 'hidden' });
  await choose('Hello Dolly', 'Delete');
  await page.getByRole('button', { name: 'Delete plugin' }).click();
  await page.getByText('Hello Dolly is deleted.').waitFor();
  expect(changes.map(({ id, status, keep = false }) => [id, status, keep])).toEqual([
    ['hello.php', 'active', false],
    ['shop/shop.php', 'active', false],
    ['akismet/akismet.php', 'inactive', false],
    ['shop/shop.php', 'active', true],
    ['hello.php', 'deleted', false],
  ]);
  await expect.poll(() => page.getByRole('button', { name: 'Actions for Homeport' }).count()).toBe(0);
});

onlyInLong(it)('updates selected plugins, and fits narrow screens', async () => {
  await page.getByLabel('Select Akismet').check();
  await page.getByLabel('Select Shop').check();
  await expect.poll(() => page.getByLabel('Select Hello Dolly').count()).toBe(0);
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await page.getByRole('button', { name: 'Update selected' }).click();
  await page.getByRole('table', { name: 'Latest updates' }).getByText('akismet/akismet.php').waitFor();
});

it('installs a plugin', async () => {
  await page.getByRole('button', { name: 'Install plugin' }).click();
  await page.getByLabel('Slug').fill('akismet');
  await page.getByRole('dialog').getByRole('button', { name: 'Install plugin' }).click();
  await page.getByText('The plugin is installed.').waitFor();
  expect(changes.at(-1)).toMatchObject({ source: { slug: 'akismet' }, status: null });
});

onlyInLong(it)('updates the plugins of selected installs', async () => {
  await page.goto(`/accounts/${accountId}/installs`);
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('button', { name: 'Bulk actions' }).click();
  await page.getByText('Update plugins').click();
  await page.getByRole('button', { name: 'Start for 1 install' }).click();
  await page.getByText('1 of 1 finished').waitFor();
});
