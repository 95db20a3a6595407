import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOUR_MS } from '../../../lib/durations.ts';
import { DATABASE_PATH } from '../../contract/database-access.ts';
import { RefusedImportError } from '../../contract/errors.ts';
import type { InstallState } from '../../contract/install-state.ts';
import { siteState } from '../../policy/edge.fixture.ts';
import { cookieOf } from '../../websites/database/database-cases.fixture.ts';
import { tarOf } from '../../websites/imports/archives.fixture.ts';
import type { TestHost } from '../embedded-host.fixture.ts';
import { layoutOf } from '../host-folder/layout.ts';
import { startWordPressHost } from './prepared-wordpress.fixture.ts';
import { databaseNameOf } from './site.ts';

/**
 * Guards of a website with real WordPress, one quick test each. The files `.long-test.ts` of this host have the variants, and
 * test/operations what visitors see of other operations. One website goes through all, so each test needs those before it.
 */
let site: TestHost;
let shop: InstallState;

beforeAll(async () => {
  // However busy the machine is.
  const checkPace = { pageMs: HOUR_MS, patienceMs: HOUR_MS, wholeMs: HOUR_MS, pauseMs: 10 };
  site = await startWordPressHost({ checkPace });
  shop = { ...siteState('shop', ['shop.test'], { primaryHostname: 'shop.test' }), runtime: 'wordpress' };
  await site.host.apply(shop);
  // Nothing answers in place of wordpress.org, and its pages would wait for that.
  const offline = `<?php add_filter('pre_http_request', fn () => new WP_Error('offline'));`;
  await site.write(shop, 'wp-content/mu-plugins/offline.php', offline);
});
afterAll(() => site?.close());

/** A page that PHP makes. */
const page = (path: string) => site.http('shop.test', `${path}?${randomUUID()}`);

async function wpCli(...args: string[]): Promise<string> {
  const outcome = await site.host.runWpCli(shop, args);
  if (!('exitStatus' in outcome) || outcome.exitStatus !== 0) throw new Error(JSON.stringify(outcome));
  return outcome.stdout;
}

async function backUp(): Promise<string> {
  const id = randomUUID();
  await site.host.snapshot(shop, id);
  return id;
}

test('no visitor reaches the installation of WordPress, and no plugin changes WordPress', async () => {
  expect((await page('/wp-admin/install.php')).status).toBe(404);
  const code = `<?php echo json_encode(array_map(fn ($file) => @file_put_contents($file, 'x'), ['wp-load.php', 'wp-includes/version.php', 'own.txt']));`;
  await site.write(shop, 'writes.php', code);
  expect(JSON.parse((await page('/writes.php')).text)).toEqual([false, false, 1]);
});

test('a link to the database opens a session once, which reaches no other database and takes no foreign form', async () => {
  // PHP has the machine's clock.
  site.clock.advance(Date.now() - site.clock.now().getTime());
  const link = await site.host.createDatabaseLink(shop);
  if ('refused' in link) throw new Error(link.reason);
  const path = `${DATABASE_PATH}?token=${link.token}`;
  const opened = await site.http('shop.test', path);
  expect(opened.status).toBe(200);
  expect((await site.http('shop.test', path)).status).toBe(403);
  const cookie = cookieOf(opened);
  const ask = (query: Record<string, string>, method = 'GET', body?: string) =>
    site.http('shop.test', `${DATABASE_PATH}index.php?${new URLSearchParams(query).toString()}`, {
      ...{ method, headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' } },
      ...(body === undefined ? {} : { body }),
    });
  const database = databaseNameOf(shop.id);
  const first = await ask({ route: '/database/structure', db: database });
  expect(first).toMatchObject({ status: 200, text: expect.stringContaining('wp_options') });
  const statement = "ATTACH DATABASE '/database/other.sqlite' AS other";
  const form = { server: '1', db: database, sql_query: statement, ajax_request: 'true' };
  const foreign = new URLSearchParams(form).toString();
  expect((await ask({ route: '/sql' }, 'POST', foreign)).status).toBe(403);
  const token = /token:"([0-9a-f]+)"/.exec(first.text)?.[1] ?? '';
  const own = new URLSearchParams({ ...form, token }).toString();
  expect((await ask({ route: '/import' }, 'POST', own)).text).toContain('MySQL said');
});

test('a plugin that breaks a page is rolled back to the checkpoint', async () => {
  const code = `add_action('template_redirect', static fn() => throw new Error('broken in front'));`;
  await site.write(shop, 'wp-content/plugins/front/front.php', `<?php\n/* Plugin Name: Front */\n${code}\n`);
  const change = { kind: 'plugin', id: 'front', source: null, status: 'active', autoUpdate: null } as const;
  const order = { changeId: randomUUID(), checkpointId: await backUp(), change, pages: [] };
  expect(await site.host.changeItem(shop, order)).toEqual({
    rolledBack: expect.stringMatching(/^the home page answers 500, and 200 before: .*broken in front/),
  });
  expect((await page('/')).status).toBe(200);
});

test('an import replaces the website, and a refused one changes nothing', async () => {
  await wpCli('db', 'export', 'present.sql');
  const present = await readFile(site.file(shop, '.private/present.sql'), 'utf8');
  const importOf = async (title: string, sql = '') => {
    const dump = `${present}\nUPDATE wp_options SET option_value = '${title}' WHERE option_name = 'blogname';\n${sql}`;
    const archive = await tarOf([
      { name: 'wp-content/uploads/photo.txt', content: `a photo of ${title}` },
      { name: 'dump.sql', content: dump },
    ]);
    await writeFile(site.file(shop, '.private/packed.tar.gz'), gzipSync(archive));
    return site.host.importWebsite(shop, { file: 'private/packed.tar.gz' });
  };
  await importOf('Moved in');
  expect((await page('/')).text).toContain('<title>Moved in');
  await expect(importOf('Refused', 'INSERT INTO wp_absent VALUES (1);\n')).rejects.toThrow(
    RefusedImportError,
  );
  expect((await page('/')).text).toContain('<title>Moved in');
  expect((await site.http('shop.test', '/wp-content/uploads/photo.txt')).text).toBe('a photo of Moved in');
});

test('a website without a database is closed, gets no empty one, and comes back from a backup', async () => {
  const backup = await backUp();
  const database = layoutOf(site.folder).databaseOf(shop.id);
  await site.host.restartPhp(shop);
  await rm(database, { recursive: true });
  expect((await page('/')).status).toBe(503);
  await expect(backUp()).rejects.toThrow('Data of the website is missing');
  await site.host.apply(shop);
  expect(existsSync(database)).toBe(false);
  await site.host.restore(shop, backup);
  expect((await page('/')).text).toContain('<title>Moved in');
});
