import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillDemo, writeDemo } from '../../src/app/demo.ts';
import { askForLogin, askForWordPress } from '../../src/app/serving-socket.ts';
import { text } from '../client.ts';
import type { Person } from '../homeport.ts';
import { expectAccessibleInLong, type Portal, startPortal } from './portal.ts';

describe('WordPress in the embedded host', () => {
  let portal: Portal;
  let owner: Person;
  let accountId: string;
  let page: Page;
  let id: string;
  let front: string;

  beforeAll(async () => {
    portal = await startPortal({
      environment: {
        HOMEPORT_WORDPRESS_FETCH: 'false',
        HOMEPORT_EMBEDDED_PHP_MB: '1000',
        HOMEPORT_INSTALL_RUNTIME: 'wordpress',
      },
    });
    ({ accountId, owner } = await portal.homeport.ownedAccount());
    page = await portal.signedIn(owner, { at: `/accounts/${accountId}/installs` });
    front = `http://shop.localhost:${portal.homeport.hosting?.edgeHttp.port}/`;
  });
  afterAll(() => portal?.remove());

  const visit = async () => {
    const visitor = await portal.browser();
    await visitor.goto(front);
    return visitor;
  };
  const titles = async () => (await visit()).locator('h2, h3').allTextContents();

  it('creates one from the portal and signs in without a password', async () => {
    await page.getByRole('button', { name: 'Create install' }).first().click();
    await page.getByLabel('Install name').fill('shop');
    await expect.poll(() => page.getByRole('radio', { name: 'WordPress' }).isChecked()).toBe(true);
    await expectAccessibleInLong(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Create install' }).click();
    const signIn = page.getByRole('button', { name: 'Sign in to WordPress' });
    await signIn.waitFor();
    await page.getByText('needs no password').waitFor();
    const installs = await owner.client.get(`/installs?account_id=${accountId}`);
    id = text(installs.body, 'results', 0, 'id');
    expect(installs.body).toMatchObject({
      results: [{ name: 'shop', status: 'active', php_version: '8.4', wp_version: expect.any(String) }],
    });
    expect(await titles()).toContain('Hello world!');
    const opened = page.waitForEvent('popup');
    await signIn.click();
    const admin = await opened;
    await admin.locator('#wpadminbar').waitFor();
    expect(new URL(admin.url()).pathname).toBe('/wp-admin/');
  });

  it('shows a published post to visitors, and brings it back from a backup', async () => {
    const admin = page.context().pages().at(-1);
    if (admin === undefined) throw new Error('no page is open');
    const rest = (method: string, route: string, body?: object) =>
      admin.evaluate(
        `(async () => {
          const nonce = await (await fetch('/wp-admin/admin-ajax.php?action=rest-nonce')).text();
          const answer = await fetch('/wp-json/wp/v2/${route}', {
            method: '${method}',
            headers: { 'content-type': 'application/json', 'x-wp-nonce': nonce },
            ${body === undefined ? '' : `body: JSON.stringify(${JSON.stringify(body)}),`}
          });
          if (!answer.ok) throw new Error('${method} ${route}: ' + answer.status);
          return (await answer.json()).id;
        })()`,
      );
    const post = await rest('POST', 'posts', { title: 'Fresh bread', status: 'publish' });
    expect(await titles()).toContain('Fresh bread');

    const backup = await owner.client.post(`/installs/${id}/backups`, {
      description: 'with bread',
      notification_emails: [owner.email],
    });
    await portal.homeport.idle();
    await rest('DELETE', `posts/${post}`);
    expect(await titles()).not.toContain('Fresh bread');
    const restored = await page.request.post(
      `/portal/api/installs/${id}/backups/${text(backup.body, 'id')}/restore`,
      {
        data: {
          into_install_id: null,
          restore_files: true,
          restore_database: true,
          create_checkpoint: false,
        },
        headers: { origin: portal.homeport.origin },
      },
    );
    expect(restored.status()).toBe(202);
    await portal.homeport.idle();
    expect(await titles()).toContain('Fresh bread');
  });

  it('answers commands, which run in another process', async () => {
    const { config } = portal.homeport;
    expect(await askForWordPress(config)).toMatchObject({ version: '8.4', engine: 'wasm' });
    expect(await askForLogin(config, { id, name: 'shop' }, null)).toMatchObject({ user: 'admin' });
    expect(await askForLogin(config, { id, name: 'shop' }, 'nobody')).toMatchObject({
      refused: 'unknown_user',
    });
  });

  it('has a demo with content', async () => {
    const { homeport } = portal;
    expect(await fillDemo(homeport.platform, homeport.services, 'wordpress')).toBe(true);
    const addresses = await writeDemo(homeport, new AbortController().signal);
    expect(addresses).toHaveLength(2);
    const visitor = await portal.browser();
    for (const [address, title, post] of [
      [addresses[0], 'Harbour Café', 'Music on the pier'],
      [addresses[1], 'Lighthouse Books', 'We buy travel guides'],
    ] as const) {
      await visitor.goto(address ?? '');
      expect(await visitor.title()).toContain(title);
      await visitor.getByRole('link', { name: post }).first().waitFor();
    }
  });
});
