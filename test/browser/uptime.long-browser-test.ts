import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  beginSpans,
  confirmIncident,
  endIncidents,
  suspectIncident,
} from '../../src/features/uptime/store.ts';
import { DAY_MS, MINUTE_MS } from '../../src/lib/durations.ts';
import type { Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

let portal: Portal;
let owner: Person;
let install: { id: string; name: string };
let page: Page;

beforeAll(async () => {
  portal = await startPortal();
  let accountId = '';
  ({ accountId, owner } = await portal.homeport.ownedAccount());
  install = await portal.homeport.install(owner, accountId);
  await portal.homeport.platform.database.write(({ queries }) =>
    queries.updateTable('installs').set({ environment: 'production' }).where('id', '=', install.id).execute(),
  );
  page = await portal.signedIn(owner);
});
afterAll(() => portal?.remove());

const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

async function incident(startedAgo: number, endedAgo: number | null, php_error: string | null = null) {
  const id = crypto.randomUUID();
  const message = 'The home page answered 500.';
  await portal.homeport.platform.database.write(async ({ queries }) => {
    await suspectIncident(queries, {
      ...{ id, install_id: install.id, cause: 'status', message, started_at: ago(startedAgo) },
    });
    await confirmIncident(queries, id, {
      ...{ cause: 'status', message, php_error, confirmed_at: ago(startedAgo - MINUTE_MS) },
    });
    if (endedAgo !== null) await endIncidents(queries, [id], ago(endedAgo), 'recovered');
  });
  return id;
}

const spans = (...all: [firstAgo: number, lastAgo: number, is_up: boolean][]) =>
  portal.homeport.platform.database.write(({ queries }) =>
    beginSpans(
      queries,
      all.map(([first, last, is_up]) => ({
        ...{ install_id: install.id, first_at: ago(first), last_at: ago(last), is_up },
      })),
    ),
  );

it('says that the website was not checked yet, and shows its uptime and incidents', async () => {
  const section = page.getByRole('region', { name: 'Uptime' });
  await page.goto(`/installs/${install.id}`);
  await section.getByText('Not checked yet').waitFor();

  await spans([60 * DAY_MS, 40 * DAY_MS, true], [40 * DAY_MS - MINUTE_MS, 39.9 * DAY_MS, false]);
  await spans([39.9 * DAY_MS - MINUTE_MS, 5 * DAY_MS, true]);
  await spans([5 * DAY_MS - MINUTE_MS, 5 * DAY_MS - 11 * MINUTE_MS, false]);
  await spans([5 * DAY_MS - 12 * MINUTE_MS, 0, true]);
  await page.reload();
  await section.getByText('Up', { exact: true }).waitFor();
  expect(await section.locator('dd').allTextContents()).toEqual(['100 %', '99.89 %', '99.975 %', '99.82 %']);
  await section.getByText('No incidents in the last 90 days.').waitFor();
  const bars = await section.getByRole('img').getAttribute('aria-label');
  expect(bars).toMatch(/^Checked on 6\d days of the last 90\. Downtime: .*down for 1[01] minutes/);

  const rightOf = async (name: string) => {
    const box = await section.locator(name).last().boundingBox();
    return box && Math.round(box.x + box.width);
  };
  expect(await rightOf('p > span')).toBe(await rightOf('[role=img]'));

  for (let day = 8; day > 2; day--) await incident(day * DAY_MS, day * DAY_MS - 11 * MINUTE_MS);
  const open = await incident(
    3 * MINUTE_MS,
    null,
    'PHP Fatal error: Uncaught Error: Call to undefined function shop() in wp-content/plugins/shop/shop.php:7',
  );
  // Live, without loading the page again.
  await section.getByText('Down', { exact: true }).waitFor();
  await section.getByText(/not over yet/).waitFor();
  await section.getByText('wp-content/plugins/shop/shop.php:7').waitFor();
  expect(await section.getByRole('listitem').count()).toBe(5);
  await section.getByRole('button', { name: 'Show all 7' }).click();
  await expect.poll(() => section.getByRole('listitem').count()).toBe(7);
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await portal.homeport.platform.database.write(({ queries }) =>
    endIncidents(queries, [open], ago(0), 'recovered'),
  );
  await section.getByText('Up', { exact: true }).waitFor();
});

onlyInLong(it)('shows no uptime of a website that is not for visitors', async () => {
  await portal.homeport.platform.database.write(({ queries }) =>
    queries.updateTable('installs').set({ environment: 'staging' }).where('id', '=', install.id).execute(),
  );
  await page.goto(`/installs/${install.id}`);
  await page.getByRole('region', { name: 'Details' }).waitFor();
  expect(await page.getByRole('region', { name: 'Uptime' }).count()).toBe(0);
});
