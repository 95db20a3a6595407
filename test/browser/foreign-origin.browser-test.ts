import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../homeport.ts';
import { type Portal, startPortal } from './portal.ts';

/** A hosted website is same-site with the portal, so the browser sends even SameSite cookies with its requests. */
describe('a website whose visitor is signed in to the portal', () => {
  let portal: Portal;
  let owner: Person;
  let accountId: string;
  let page: Page;
  let strange: string;

  beforeAll(async () => {
    portal = await startPortal({ environment: { HOMEPORT_SITE_DOMAIN: 'localhost' } });
    const { homeport } = portal;
    ({ accountId, owner } = await homeport.ownedAccount());
    const install = await homeport.install(owner, accountId);
    const files = join(homeport.config.dataDir, 'host/installs', install.id, 'files');
    writeFileSync(join(files, 'index.html'), '<!doctype html><title>A website</title><h1>A website</h1>');
    strange = `https://${install.name}.localhost:${homeport.hosting?.edgeHttps.port}`;
    page = await portal.signedIn(owner);
    await page.goto(`${strange}/`);
    await page.getByRole('heading', { name: 'A website' }).waitFor();
  });
  afterAll(() => portal.remove());

  const sites = async () => (await owner.client.get('/sites')).body;

  it.each([
    ['reads nothing', 'GET', '/v1/accounts', {}],
    ['reads no session', 'GET', '/portal/api/session', {}],
    ['receives no live changes', 'GET', '/portal/api/events', {}],
    ['creates nothing with JSON', 'POST', '/v1/sites', { 'content-type': 'application/json' }],
    ['creates nothing with a plain form', 'POST', '/v1/sites', { 'content-type': 'text/plain' }],
    ['creates no credential', 'POST', '/portal/api/credentials', { 'content-type': 'text/plain' }],
    ['does not sign the user out', 'DELETE', '/portal/api/session', {}],
  ])('%s', async (_what, method, path, headers) => {
    const body = method === 'POST' ? JSON.stringify({ name: 'Stolen', account_id: accountId }) : null;
    const got = await page.evaluate(
      async ([url, init]) => {
        try {
          const answer = await fetch(url, init);
          return { status: answer.status, text: await answer.text() };
        } catch (error) {
          return String(error);
        }
      },
      [`${portal.homeport.origin}${path}`, { method, headers, body, credentials: 'include' }] as const,
    );
    expect(got).toBe('TypeError: Failed to fetch');
    expect(await sites()).toMatchObject({ count: 0 });
  });

  it('cannot change anything with no-cors requests', async () => {
    await page.evaluate(
      ([url, body]) => fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include', body }),
      [
        `${portal.homeport.origin}/v1/sites`,
        JSON.stringify({ name: 'Stolen', account_id: accountId }),
      ] as const,
    );
    expect(await sites()).toMatchObject({ count: 0 });
  });

  it('cannot submit a form in the user’s window', async () => {
    const form = `<form method="post" action="${portal.homeport.origin}/portal/api/session" enctype="text/plain"><input name='{"name":"' value='"}'></form>`;
    await page.setContent(form);
    await page.evaluate('document.querySelector("form").submit()');
    await page.waitForURL(`${portal.homeport.origin}/**`);
    await expect
      .poll(() => page.evaluate('document.body.innerText'))
      .toContain('from the portal itself only');
    await page.goto('/');
    await page.getByRole('navigation', { name: 'Account' }).waitFor();
    await page.goto(`${strange}/`);
  });

  it('cannot frame the portal', async () => {
    await page.setContent(`<h1>A website</h1><iframe src="${portal.homeport.origin}/"></iframe>`);
    await expect.poll(() => page.frames().at(-1)?.url()).toMatch(/^chrome-error:/);
  });
});
