import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { environment } from '../../src/features/hosts/fleet.fixture.ts';
import type { AccessEntry, LogQuery } from '../../src/hosting/contract/logs.ts';
import { type ServedMachine, serveMachine } from '../../src/hosting/remote/embedded-machine.fixture.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

let machine: ServedMachine;
let portal: Portal;
let page: Page;
let install: { id: string; name: string };
let asked: LogQuery[] = [];
/** Requests in the log; the number is the last part of a position. */
let count = 150;

const request = (number: number): AccessEntry => ({
  time: new Date(Date.UTC(2026, 0, 31, 9, 0, number)).toISOString(),
  address: '192.0.2.77',
  method: 'GET',
  scheme: 'https',
  host: 'shop.example',
  path: `/page-${number}`,
  status: number % 10 === 0 ? 503 : 200,
  bytes: 5_120,
  cache: 'MISS',
  seconds: 0.231,
  php_seconds: 0.224,
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  referrer: 'https://shop.example/',
});

beforeAll(async () => {
  machine = await serveMachine();
  machine.machine.readLog = async (_install, query) => {
    asked.push(query);
    const place = (number: number) => `2026-01-31.1.${number}`;
    const from = query.cursor === null ? count : Number(query.cursor.split('.').at(-1));
    const all = Array.from({ length: count }, (_, index) => index + 1);
    const older = all.filter((number) => number <= from).toReversed();
    const found = (query.direction === 'older' ? older : all.filter((number) => number > from)).filter(
      (number) => request(number).path.includes(query.search ?? ''),
    );
    const shown = found.slice(0, query.limit);
    const last = shown.at(-1) ?? (query.direction === 'older' ? 1 : from);
    const rest = last === 1 || shown.length < query.limit ? null : place(last - 1);
    return {
      lines: query.kind === 'access' ? shown.map((number) => JSON.stringify(request(number))) : [],
      cursor: query.direction === 'older' ? rest : place(last),
      end: place(count),
    };
  };
  portal = await startPortal({ environment: environment(machine.runFolder) });
  const { accountId, owner } = await portal.homeport.ownedAccount();
  install = await portal.homeport.install(owner, accountId);
  page = await portal.signedIn(owner);
});
afterAll(async () => {
  await portal?.remove();
  await machine?.close();
});

const path = (text: string) => page.getByRole('cell', { name: text }).first();

/** The fields From and To stay together at every width of a desktop. */
async function expectRangeInOneLine(): Promise<void> {
  const before = page.viewportSize();
  const topOf = async (label: string) => (await page.getByLabel(label, { exact: true }).boundingBox())?.y;
  for (const width of [1024, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await topOf('To'), `${width}`).toBe(await topOf('From'));
  }
  if (before) await page.setViewportSize(before);
}

it('shows requests, older ones on demand, and finds some', async () => {
  await page.goto(`/installs/${install.id}`);
  await page.getByRole('link', { name: 'Logs', exact: true }).click();
  await path('/page-150').waitFor();
  await expect.poll(() => page.getByRole('row').count()).toBe(101);
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await expectRangeInOneLine();
  await page.getByRole('button', { name: 'Show older entries' }).click();
  await expect.poll(() => page.getByRole('row').count()).toBe(151);
  await path('/page-1').waitFor();

  asked = [];
  await page.getByLabel('Status').selectOption('5xx');
  await page.getByLabel('Search').fill('page-14');
  await expect.poll(() => page.getByRole('row').count()).toBe(12);
  expect(asked.at(-1)).toMatchObject({ search: 'page-14', status: '5xx', limit: 100 });
  await page.reload();
  await expect.poll(() => page.getByRole('row').count()).toBe(12);
  await page.getByLabel('Log', { exact: true }).selectOption('php');
  await page.getByText('No entries match.').waitFor();
  expect(asked.at(-1)).toMatchObject({ kind: 'php', search: 'page-14', status: null });
  await expectBothThemesInLong(page);
});

onlyInLong(it)('follows a log, pauses, and goes on without a gap', async () => {
  await page.goto(`/installs/${install.id}/logs`);
  await path('/page-150').waitFor();
  await page.getByRole('button', { name: 'Follow' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  count = 152;
  await path('/page-152').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  count = 154;
  await page.getByRole('button', { name: 'Follow' }).click();
  await path('/page-154').waitFor();
  const shown = async () => {
    const rows = await page.getByRole('row').filter({ hasText: '/page-15' }).allTextContents();
    return rows.map((text) => /\/page-\d+/.exec(text)?.[0]);
  };
  await expect.poll(shown).toEqual([154, 153, 152, 151, 150].map((number) => `/page-${number}`));
  await expectBothThemesInLong(page);
});
