import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Person } from '../homeport.ts';
import { expectAccessible, PASSWORD, type Portal, startPortal } from './portal.ts';

describe('the portal', () => {
  let portal: Portal;
  let owner: Person;
  let accountId: string;
  beforeAll(async () => {
    portal = await startPortal();
    ({ owner, accountId } = await portal.homeport.ownedAccount());
  });
  afterAll(() => portal.remove());

  it('asks nobody but its own server, runs nothing that stands in the page, and says nothing on the console', async () => {
    const page = await portal.browser();
    const asked: string[] = [];
    const said: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).origin));
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push(error.message));
    const answer = await page.goto('/');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(new Set(asked)).toEqual(new Set([portal.homeport.origin]));
    expect(answer?.headers()['content-security-policy']).not.toContain('unsafe');
    // The browser itself tells of the 401 with which the portal learns that nobody is signed in.
    expect(said.filter((line) => !line.includes('401'))).toEqual([]);
  });

  it('loads less than 150 kB of script, as gzip, until somebody sees their sites', async () => {
    const page = await portal.browser();
    await portal.homeport.setPassword(owner, PASSWORD);
    const scripts = new Set<string>();
    page.on('request', (request) => {
      if (request.resourceType() === 'script') scripts.add(new URL(request.url()).pathname);
    });
    await page.goto('/');
    await page.getByLabel('E-mail').fill(owner.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
    const sizes = [...scripts].map(
      (path) => gzipSync(readFileSync(join(inject('portalFolder'), path)), { level: 9 }).length,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000);
  });

  it('is reached by the keyboard alone, from the first key', async () => {
    const page = await portal.signedIn(owner);
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Skip to the content' }).press('Enter');
    expect(await page.evaluate('document.activeElement?.id')).toBe('content');
    await page.getByRole('button', { name: /your settings$/ }).press('Enter');
    await page.getByRole('link', { name: 'SSH keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'SSH keys' }).waitFor({ state: 'hidden' });
    await expectAccessible(page);
  });

  it('signs out, and the session is over', async () => {
    const page = await portal.signedIn(owner);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({
      name: '__Host-homeport-session',
      httpOnly: true,
      secure: true,
      sameSite: 'Lax',
      path: '/',
    });
    await page.getByRole('button', { name: /your settings$/ }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    const again = await page.request.get('/v1/user', {
      headers: { cookie: `${cookie?.name}=${cookie?.value}` },
    });
    expect(again.status()).toBe(401);
  });

  it('asks for signing in again when the session ends at work, and leads back to the same address', async () => {
    const page = await portal.signedIn(owner);
    const address = `/accounts/${accountId}/installs?site=none`;
    await page.goto(address);
    await page.getByRole('button', { name: 'Create an install' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('unsent');
    await portal.homeport.platform.database.write(({ queries }) =>
      queries.deleteFrom('sessions').where('user_id', '=', owner.userId).execute(),
    );
    await page.getByRole('dialog').getByRole('button', { name: 'Create the install' }).click();
    await page.getByText('Your session has ended. Sign in again.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('E-mail address').fill(owner.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Installs' }).waitFor();
    expect(page.url()).toBe(`${portal.homeport.origin}${address}`);
  });

  it('tells of an address at which nothing is', async () => {
    const page = await portal.signedIn(owner);
    await page.goto('/accounts/nobody/nothing');
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    await expectAccessible(page);
  });
});
