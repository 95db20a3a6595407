import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InstallState } from '../contract/install-state.ts';
import { siteState } from '../policy/edge.fixture.ts';
import type { TestHost } from './embedded-host.fixture.ts';
import { startWordPressHost } from './wordpress/prepared-wordpress.fixture.ts';

/** A website of real WordPress that loses data. */
let site: TestHost;
let shop: InstallState;
const backup = randomUUID();
const installs = (...path: string[]) => join(site.folder, 'installs', shop.id, ...path);

beforeAll(async () => {
  site = await startWordPressHost();
  shop = { ...siteState('shop', ['shop.test'], { primaryHostname: 'shop.test' }), runtime: 'wordpress' };
  await site.host.apply(shop);
  expect((await page('/')).status).toBe(200);
  await site.host.snapshot(shop, backup);
});
afterAll(() => site?.close());

/** A page that PHP makes. */
const page = (path: string) => site.http('shop.test', `${path}?${randomUUID()}`);

async function expectClosed(missing: string): Promise<void> {
  for (const path of ['/', '/wp-login.php', '/any-page/']) {
    const { status, text, headers } = await page(path);
    expect([path, status]).toEqual([path, 503]);
    expect(text).toContain('not available at the moment');
    // The watch of websites takes a minute or more for maintenance, which counts as up.
    expect(Number(headers['retry-after'])).toBeLessThan(60);
  }
  const [held] = (await site.host.heldInstalls(null)).installs;
  expect(held?.lost?.join(' ')).toBe(missing);
}

test('no visitor reaches the installation of WordPress', async () => {
  for (const path of ['/wp-admin/install.php', '/wp-admin/setup-config.php']) {
    expect((await page(path)).status).toBe(404);
  }
  expect((await site.host.heldInstalls(null)).installs[0]?.lost).toBeUndefined();
});

test('a website without tables offers no installation', async () => {
  const code =
    "<?php require 'wp-load.php'; foreach ($wpdb->tables('all') as $name) $wpdb->query('DROP TABLE ' . $name);";
  await site.write(shop, 'drop.php', code);
  expect((await page('/drop.php')).status).toBe(200);
  const answer = await page('/');
  expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('not available')]);
  expect(answer.headers.location).toBeUndefined();
  await site.host.restore(shop, backup);
  expect((await page('/')).status).toBe(200);
});

test('a website without a database is closed, and gets no empty one', async () => {
  await site.host.restartPhp(shop);
  await rm(installs('database'), { recursive: true });
  await expectClosed('The database of the website is missing.');
  expect(await site.host.createLogin(shop, null)).toEqual({
    refused: 'website',
    reason: expect.stringMatching(/^Data of the website is missing\. .* Restore a backup\.$/),
  });
  await expect(site.host.snapshot(shop, randomUUID())).rejects.toThrow('Data of the website is missing');
  await site.host.apply(shop);
  expect(existsSync(installs('database'))).toBe(false);
  await site.host.restore(shop, backup);
  expect((await page('/')).status).toBe(200);
});

test('a website whose database is damaged can be restored', async () => {
  await site.host.restartPhp(shop);
  await writeFile(installs('database/wordpress.sqlite'), 'damaged');
  expect((await page('/')).status).toBeGreaterThanOrEqual(500);
  await site.host.restore(shop, backup);
  expect((await page('/')).status).toBe(200);
});

test('a website without its files is closed, gets no new ones, and can be restored', async () => {
  await site.host.restartPhp(shop);
  await rename(installs(), `${site.folder}/kept`);
  for (const path of ['/', '/any-page/']) expect((await page(path)).status).toBe(503);
  await site.host.apply({ ...shop, mail: { perHour: 3 } });
  expect(existsSync(installs('files'))).toBe(false);
  await site.host.restore(shop, backup);
  expect((await page('/')).status).toBe(200);
  await rm(`${site.folder}/kept`, { recursive: true });
});

test.each(['wp-config.php', 'wp-content'])(
  'a website without %s is closed until it is back',
  async (name) => {
    await rename(installs('files', name), `${site.folder}/kept`);
    await expectClosed(`${name} is missing.`);
    await site.host.apply(shop);
    expect(await readdir(installs('files'))).not.toContain(name);
    await rename(`${site.folder}/kept`, installs('files', name));
    expect((await page('/')).status).toBe(200);
  },
);

test('a website that is made for a restore is closed until then, or until an empty one is wanted', async () => {
  const made = { ...shop, isMade: true };
  await site.host.remove(shop, { keepBackups: true });
  await expect(site.host.apply(made)).rejects.toThrow('is missing on its machine');
  await site.host.makeForRestore(made);
  await expectClosed('The files of the website are missing. The database of the website is missing.');
  await site.host.apply(made);
  await expect(site.host.snapshot(shop, randomUUID())).rejects.toThrow('is missing');
  expect((await page('/')).status).toBe(503);
  await site.host.restore(made, backup);
  expect((await page('/')).status).toBe(200);
  expect((await site.host.heldInstalls(null)).installs[0]?.lost).toBeUndefined();

  await site.host.remove(shop, { keepBackups: true });
  await site.host.makeForRestore(made);
  await expect(site.host.restore(made, randomUUID())).rejects.toThrow('no snapshot');
  expect((await page('/')).status).toBe(503);
  await site.host.apply({ ...shop, isMade: false });
  expect((await page('/')).status).toBe(200);
});
