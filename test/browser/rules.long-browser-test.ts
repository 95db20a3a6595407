import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { visit } from '../edge.ts';
import type { Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

let portal: Portal;
let owner: Person;
let page: Page;
let install: { id: string; name: string };

beforeAll(async () => {
  portal = await startPortal();
  const { accountId, owner: person } = await portal.homeport.ownedAccount();
  owner = person;
  install = await portal.homeport.install(owner, accountId);
  page = await portal.signedIn(owner);
});
afterAll(() => portal?.remove());

const button = (name: string) => page.getByRole('button', { name, exact: true });
const section = (name: string) => page.getByRole('region', { name, exact: true });
const open = (id: string) => page.goto(`/installs/${install.id}/${id}`);
const toast = (text: string) => page.getByText(text, { exact: true }).waitFor();
const look = (path = '/') => visit(portal.homeport, `http://${install.name}.localhost${path}`);

it('protects a website with a password, and blocks addresses', async () => {
  await open('protection');
  await section('Password for visitors').getByText('Everyone may visit the website.').waitFor();
  await button('Turn on').click();
  await toast('Visitors must enter the password.');
  await section('Password for visitors').getByText(install.name, { exact: true }).waitFor();
  await expect.poll(async () => (await look()).status).toBe(401);
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);

  await button('Change').click();
  await page.getByLabel('Password', { exact: true }).fill('short');
  await button('Save').last().click();
  await page.getByText('A password has 8 to 64 characters').waitFor();
  await page.getByLabel('Password', { exact: true }).fill('a long secret');
  await page.getByRole('textbox', { name: 'User name' }).fill('client');
  await expectBothThemesInLong(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await toast('The password is saved.');
  await section('Password for visitors').getByText('a long secret', { exact: true }).waitFor();
  await button('Turn off').click();
  await toast('Everyone may visit the website.');

  await page.getByLabel('Addresses', { exact: true }).fill('192.0.2.7\n0.0.0.0/0');
  await button('Save addresses').click();
  await page.getByText('0.0.0.0/0 has too many addresses').waitFor();
  await page.getByLabel('Addresses', { exact: true }).fill('127.0.0.1');
  await button('Save addresses').click();
  await toast('The blocked addresses are saved.');
  await expect.poll(async () => (await look()).status).toBe(403);
  await page.getByLabel('Addresses', { exact: true }).fill('');
  await button('Save addresses').click();
  await expect.poll(async () => (await look()).status).toBe(200);
});

onlyInLong(it)('adds, changes, moves and deletes redirects', async () => {
  await open('redirects');
  await page.getByText('There are no redirects yet.').waitFor();
  const add = async (from: string, to: string) => {
    await button('Add redirect').first().click();
    await page.getByLabel('From', { exact: true }).fill(from);
    await page.getByLabel('To', { exact: true }).fill(to);
    await page.getByRole('dialog').getByRole('button', { name: 'Add redirect' }).click();
  };
  await add('/old', '/old');
  await page.getByText('Visitors of /old would never arrive').waitFor();
  await expectBothThemesInLong(page);
  await page.getByLabel('To', { exact: true }).fill('/new/');
  await page.getByRole('dialog').getByRole('button', { name: 'Add redirect' }).click();
  await toast('Added the redirect of /old.');
  await add('/blog', 'https://example.com/');
  await toast('Added the redirect of /blog.');
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await expect.poll(async () => (await look('/old')).headers.location).toBe('/new/');

  const act = async (from: string, action: string) => {
    await page.getByRole('button', { name: `Actions for ${from}` }).click();
    await button(action).click();
  };
  await act('/blog', 'Move up');
  await toast('Moved /blog to number 1.');
  await act('/blog', 'Change');
  await page.getByLabel('Matches').selectOption('prefix');
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await toast('Changed the redirect of /blog.');
  await page.getByText('and below').waitFor();
  await act('/old', 'Delete');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('Deleted the redirect of /old.').waitFor();
  // It returns to its place after /blog, although another user has moved that.
  const first = { position: 1, from: '/first', to: '/new/' };
  expect((await owner.client.post(`/installs/${install.id}/redirects`, first)).status).toBe(201);
  await button('Undo').click();
  await toast('Restored the redirect of /old.');
  const { body: redirects } = await owner.client.get(`/installs/${install.id}/redirects`);
  const order = [{ from: '/first' }, { from: '/blog' }, { from: '/old' }];
  expect(redirects).toMatchObject({ results: order });
  await expect.poll(async () => (await look('/old')).headers.location).toBe('/new/');
});

onlyInLong(it)('changes the rules of the page cache', async () => {
  // The jobs of earlier changes store the version that the host reports.
  await portal.homeport.idle();
  await portal.homeport.platform.database.write(({ queries }) =>
    queries.updateTable('installs').set({ php_version: '8.4' }).where('id', '=', install.id).execute(),
  );
  await open('caches');
  await page.getByLabel('Longest time in the cache').fill('600');
  await page.getByLabel('Addresses that are never cached').fill('members');
  await button('Save rules').click();
  await page.getByText('A path must begin with /').waitFor();
  await page.getByLabel('Addresses that are never cached').fill('/members/*');
  await page.getByLabel('Cookies that bypass the cache').fill('wishlist_*');
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await button('Save rules').click();
  await toast('The rules are saved, and the page cache is purged.');
  const { body } = await owner.client.get(`/installs/${install.id}/cache_rules`);
  expect(body).toMatchObject({
    uncached_paths: [{ match: 'prefix', path: '/members' }],
    bypass_cookies: ['wishlist_*'],
    max_age: 600,
  });
});
