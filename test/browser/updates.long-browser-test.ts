import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { environment } from '../../src/features/hosts/fleet.fixture.ts';
import { type ServedMachine, serveMachine } from '../../src/hosting/remote/embedded-machine.fixture.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

let machine: ServedMachine;
let portal: Portal;
let page: Page;

beforeAll(async () => {
  machine = await serveMachine();
  const akismet = {
    kind: 'plugin' as const,
    id: 'akismet/akismet.php',
    name: 'Akismet',
    from: '5.4',
    to: '5.5',
  };
  machine.machine.planUpdates = async () => ({ updates: [akismet], refused: [] });
  machine.machine.updateWordpress = async () => ({
    made: [],
    skipped: [],
    restored: true,
    rolledBack: { update: akismet, reason: 'the home page answers 500, and 200 before' },
    wordpressVersion: '6.8.7',
  });
  portal = await startPortal({ environment: environment(machine.runFolder) });
  const { accountId, owner } = await portal.homeport.ownedAccount();
  const install = await portal.homeport.install(owner, accountId);
  page = await portal.signedIn(owner, { at: `/installs/${install.id}/wordpress` });
});
afterAll(async () => {
  await portal?.remove();
  await machine?.close();
});

it('starts updates, and says why one was rolled back', async () => {
  await page.getByRole('button', { name: 'Update all plugins' }).click();
  const row = page.getByRole('row', { name: 'Rolled back' });
  await row.waitFor();
  await expect
    .poll(() => row.textContent())
    .toContain(
      'The update of Akismet from 5.4 to 5.5 was rolled back: the home page answers 500, and 200 before.',
    );
});

it('saves the automatic updates', async () => {
  await page.getByLabel('Plugins').selectOption('weekly');
  await page.getByLabel('Only in a maintenance window').check();
  await page.getByLabel('Time zone').fill('Nowhere');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The time zone "Nowhere" is unknown').first().waitFor();
  await page.getByLabel('Time zone').fill('UTC');
  await page.getByLabel('Pages to check').fill('/shop/');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The automatic updates are saved.').waitFor();
  await page.reload();
  await expect.poll(() => page.getByLabel('Plugins').inputValue()).toBe('weekly');
  await expect.poll(() => page.getByLabel('Pages to check').inputValue()).toBe('/shop/');
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
});
