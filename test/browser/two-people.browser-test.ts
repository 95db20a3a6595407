import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { environment } from '../../src/features/hosts/fleet.fixture.ts';
import { PHP_RANGES, phpBounds } from '../../src/hosting/policy/php-limits.ts';
import { type ServedMachine, serveMachine } from '../../src/hosting/remote/embedded-machine.fixture.ts';
import { text } from '../client.ts';
import type { Person } from '../homeport.ts';
import { isLong, onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { focused, type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

// Ann edits in the browser, Ben at the same time through the API.
let machine: ServedMachine;
let portal: Portal;
let ann: Person;
let ben: Person;
let accountId: string;
let install: { id: string; name: string };
let page: Page;

beforeAll(async () => {
  machine = await serveMachine({ php: phpBounds(PHP_RANGES, { memoryMb: 512, processes: 64 }) });
  const mail = { hasRelay: true, limitPerHour: 200, sentLastHour: 0, queued: 0, sender: 'site@localhost' };
  portal = await startPortal({
    environment: environment(machine.runFolder),
    hostCallers: { readMail: async () => mail },
  });
  ({ accountId, owner: ann } = await portal.homeport.ownedAccount());
  ben = await portal.homeport.person(accountId, 'owner');
  install = await portal.homeport.install(ann, accountId);
  page = await portal.signedIn(ann);
});
beforeEach(async () => {
  // Leaves the page of the former test without a question.
  await page.goto('about:blank');
});
afterAll(async () => {
  await portal?.remove();
  await machine?.close();
});

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const field = (label: string) => page.getByLabel(label, { exact: true });
const conflict = () => page.getByRole('alert').filter({ hasText: 'Changed by someone else.' });
const leaving = () => page.getByRole('alertdialog', { name: 'Leave this page?' });
const open = (section: string) => page.goto(`/installs/${install.id}/${section}`);
const isIdle = (name: string) => button(name).getAttribute('aria-disabled');

/** Changes something as Ben. */
async function benChanges(path: string, body: object): Promise<void> {
  expect(await ben.client.patch(path, body)).toMatchObject({ status: 200 });
}

async function stored(path: string): Promise<unknown> {
  return (await ann.client.get(path)).body;
}

it('lets an untouched form follow the change of someone else', async () => {
  const protection = `/installs/${install.id}/protection`;
  await open('protection');
  await page.getByRole('radio', { name: 'By environment' }).waitFor();
  await benChanges(protection, { noindex: 'on' });
  await expect
    .poll(() => page.getByRole('radio', { name: 'Keep out of search results' }).isChecked())
    .toBe(true);
  const save = page.getByRole('region', { name: 'Search engines' }).getByRole('button', { name: 'Save' });
  expect(await save.getAttribute('aria-disabled')).toBe('true');
  await save.click({ force: true });
  expect(await stored(protection)).toMatchObject({ noindex: 'on' });
});

it('keeps what the user typed, and asks which value stays', async () => {
  const protection = `/installs/${install.id}/protection`;
  await open('protection');
  await field('Addresses').fill('192.0.2.7');
  await benChanges(protection, { blocked_addresses: ['198.51.100.1', '198.51.100.2'] });
  await conflict().getByText('198.51.100.1 198.51.100.2', { exact: true }).waitFor();
  expect(await field('Addresses').inputValue()).toBe('192.0.2.7');
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);

  // A save before the choice sends nothing and leads to the conflict.
  await button('Save addresses').click();
  await expect.poll(() => focused(page)).toMatch(/^Changed by someone else\./);
  expect(await stored(protection)).toMatchObject({ blocked_addresses: ['198.51.100.1', '198.51.100.2'] });

  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await conflict().waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.name')).toBe('blocked_addresses');
  await button('Save addresses').click();
  await page.getByText('The blocked addresses are saved.').waitFor();
  expect(await stored(protection)).toMatchObject({ blocked_addresses: ['192.0.2.7'] });
  expect(await isIdle('Save addresses')).toBe('true');

  await field('Addresses').fill('192.0.2.8');
  await benChanges(protection, { blocked_addresses: [] });
  await conflict().getByText('Now it is empty.').waitFor();
  await button('Take theirs: Addresses').click();
  expect(await field('Addresses').inputValue()).toBe('');
  expect(await isIdle('Save addresses')).toBe('true');
});

onlyInLong(it)('saves only edited fields beside the change of another field', async () => {
  const rules = `/installs/${install.id}/cache_rules`;
  await open('caches');
  await field('Longest time in the cache').fill('700');
  await benChanges(rules, { bypass_cookies: ['cart'] });
  await expect.poll(() => field('Cookies that bypass the cache').inputValue()).toBe('cart');
  await button('Save rules').click();
  await page.getByText('The rules are saved, and the page cache is purged.').waitFor();
  expect(await stored(rules)).toMatchObject({ max_age: 700, bypass_cookies: ['cart'] });
});

it('finds a change that the page has not heard of when it saves', async () => {
  const rules = `/installs/${install.id}/cache_rules`;
  await page.route('**/portal/api/events*', (route) => route.abort());
  await open('caches');
  await field('Longest time in the cache').fill('800');
  // Ben is faster twice: before the page reads the rules, and between its reading and its change.
  await benChanges(rules, { ignored_parameters: ['ref'] });
  let isFirst = true;
  await page.route('**/cache_rules', async (route) => {
    if (route.request().method() === 'PATCH' && isFirst) {
      isFirst = false;
      await benChanges(rules, { max_age: 900 });
    }
    await route.continue();
  });
  await button('Save rules').click();
  await conflict().getByText('900', { exact: true }).waitFor();
  await expect.poll(() => focused(page)).toMatch(/^Changed by someone else\./);
  expect(await field('Longest time in the cache').inputValue()).toBe('800');
  await button('Keep mine: Longest time in the cache').click();
  await button('Save rules').click();
  await page.getByText('The rules are saved, and the page cache is purged.').waitFor();
  expect(await stored(rules)).toMatchObject({ max_age: 800, ignored_parameters: ['ref'] });
  await page.unrouteAll();
});

/** Every other form of something that several people change: what Ann types, what Ben saves meanwhile, and what Ann sees. */
const FORMS: {
  what: string;
  at(): string;
  label: string;
  typed: string;
  path(): string;
  theirs: object;
  seen: string;
  begin?(): Promise<void>;
}[] = [
  {
    what: 'the automatic updates',
    at: () => `/installs/${install.id}/wordpress`,
    label: 'Pages to check',
    typed: '/mine/',
    path: () => `/installs/${install.id}/wordpress/update_policy`,
    theirs: { pages: ['/theirs/'] },
    seen: '/theirs/',
  },
  {
    what: 'the PHP limits',
    at: () => `/installs/${install.id}/settings`,
    label: 'Largest upload',
    typed: '32M',
    path: () => `/installs/${install.id}/php`,
    theirs: { upload_max_filesize: '48M' },
    seen: '48M',
  },
  {
    what: 'the mail limit',
    at: () => `/installs/${install.id}/mail`,
    label: 'Recipients per hour',
    typed: '5',
    path: () => `/installs/${install.id}/mail`,
    theirs: { limit_per_hour: 6 },
    seen: '6',
  },
];

it.each(isLong ? FORMS : [])(
  'keeps what the user typed for $what',
  async ({ at, label, typed, path, theirs, seen }) => {
    await page.goto(at());
    await field(label).fill(typed);
    await benChanges(path(), theirs);
    await conflict().getByText(seen, { exact: true }).waitFor();
    expect(await field(label).inputValue()).toBe(typed);
  },
);

onlyInLong(it)(
  'finds a nickname that someone else saved, and saves the one that the user keeps',
  async () => {
    await page.goto(`/accounts/${accountId}/settings`);
    await field('Account nickname').fill('mine');
    await portal.homeport.services.accounts.updateByOperator(accountId, { nickname: 'theirs' });
    await button('Save nickname').click();
    await conflict().getByText('theirs', { exact: true }).waitFor();
    expect(await field('Account nickname').inputValue()).toBe('mine');
    await button('Keep mine: Account nickname').click();
    await button('Save nickname').click();
    await page.getByText('Saved the nickname mine.').waitFor();
  },
);

onlyInLong(it)('keeps the form of a redirect that someone else deletes', async () => {
  const redirects = `/installs/${install.id}/redirects`;
  const { body } = await ann.client.post(redirects, { from: '/old', to: '/new' });
  await open('redirects');
  await button('Actions for /old').click();
  await button('Change').click();
  await field('To').fill('/mine');
  await benChanges(`${redirects}/${text(body, 'id')}`, { to: '/theirs', status: 302 });
  await conflict().getByText('/theirs', { exact: true }).waitFor();
  await expect.poll(() => field('Status').inputValue()).toBe('302');
  await expectBothThemesInLong(page);

  // Back asks above the dialog.
  await page.goBack();
  await leaving().getByRole('button', { name: 'Cancel' }).click();
  await leaving().waitFor({ state: 'detached' });

  await button('Keep mine: To').click();
  expect((await ben.client.delete(`${redirects}/${text(body, 'id')}`)).status).toBe(202);
  await page.getByText('There are no redirects yet.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('Resource not found').waitFor();
  expect(await field('To').inputValue()).toBe('/mine');
});

onlyInLong(it)('keeps the choice of a role, and says which one someone else gave', async () => {
  const { userId } = await portal.homeport.person(accountId, 'partial', [install.id]);
  await page.goto(`/accounts/${accountId}/people`);
  await page
    .getByRole('row', { name: 'Partial' })
    .getByRole('button', { name: /^Actions for/ })
    .click();
  await button('Change role').click();
  await page.getByRole('dialog').getByRole('checkbox', { name: install.name }).uncheck();
  await benChanges(`/accounts/${accountId}/account_users/${userId}`, { roles: 'full' });
  await conflict().getByText('Full', { exact: true }).waitFor();
  await button('Take theirs: Role').click();
  expect(await page.getByRole('radio', { name: 'Full', exact: true }).isChecked()).toBe(true);
});

onlyInLong(it)('does not move an install back that someone else has moved', async () => {
  const path = `/installs/${install.id}`;
  const site = await ben.client.post('/sites', { name: 'Shop', account_id: accountId });
  await benChanges(path, { site_id: text(site.body, 'id'), environment: 'staging' });
  await open('settings');
  await button('Move to another site').click();
  await field('Environment').waitFor();
  await benChanges(path, { environment: 'development' });
  await page.getByRole('dialog').getByRole('button', { name: 'Move', exact: true }).click();
  await page.getByText('Someone else has moved this install.').waitFor();
  expect(await stored(path)).toMatchObject({ environment: 'development' });
});

it('asks before unsaved text is lost', async () => {
  await open('protection');
  await field('Addresses').fill('192.0.2.9');
  const sites = page.getByRole('link', { name: 'Sites', exact: true });
  await sites.click();
  await leaving().getByText('Your unsaved changes will be lost.').waitFor();
  await expectBothThemesInLong(page);
  await leaving().getByRole('button', { name: 'Cancel' }).click();
  expect(await field('Addresses').inputValue()).toBe('192.0.2.9');

  // The search goes to another page without a link.
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Name or command' }).fill('Profile');
  await page.keyboard.press('Enter');
  await leaving().getByRole('button', { name: 'Cancel' }).click();
  await page.goBack();
  await leaving().getByRole('button', { name: 'Cancel' }).click();

  // Without edits, nothing asks.
  await field('Addresses').fill('');
  await sites.click();
  await page.getByRole('heading', { name: 'Sites', exact: true }).waitFor();
});
