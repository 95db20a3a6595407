import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../../lib/durations.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { InstallState } from '../../contract/install-state.ts';
import type { ItemChange, ItemOrder } from '../../contract/wordpress-changes.ts';
import { LOGIN_PATH } from '../../contract/wordpress-login.ts';
import { siteState } from '../../policy/edge.fixture.ts';
import { loginCases } from '../../websites/login/login-cases.fixture.ts';
import type { TestHost } from '../embedded-host.fixture.ts';
import { layoutOf } from '../host-folder/layout.ts';
import { startWordPressHost } from './prepared-wordpress.fixture.ts';
import { DATABASE } from './site.ts';

const LIMITS = { memoryMb: 300, uploadMb: 2, seconds: null, workers: null, inputVars: 1_000 };
let site: TestHost;
let shop: InstallState;
let checkpointId: string;

beforeAll(async () => {
  // However busy the machine is.
  const checkPace = { pageMs: HOUR_MS, patienceMs: HOUR_MS, wholeMs: HOUR_MS, pauseMs: 10 };
  site = await startWordPressHost({ checkPace });
  shop = { ...siteState('shop', ['shop.test'], { primaryHostname: 'shop.test' }), runtime: 'wordpress' };
  shop.php = LIMITS;
  await site.host.apply(shop);
  await plugin('good', `add_action('wp_footer', fn() => print('<p>good plugin</p>'));`);
  await plugin('front', `add_action('template_redirect', fn() => throw new Exception('broken in front'));`);
  checkpointId = randomUUID();
  await site.host.snapshot(shop, checkpointId);
});
afterAll(async () => {
  await site?.close();
});

async function plugin(name: string, code: string): Promise<void> {
  await mkdir(site.file(shop, `wp-content/plugins/${name}`), { recursive: true });
  await writeFile(
    site.file(shop, `wp-content/plugins/${name}/${name}.php`),
    `<?php\n/*\nPlugin Name: ${name}\nVersion: 2.0\n*/\n${code}\n`,
  );
}

const orderOf = (change: Partial<ItemChange>): ItemOrder => ({
  changeId: randomUUID(),
  checkpointId,
  change: { kind: 'plugin', id: null, source: null, status: null, autoUpdate: null, ...change },
  pages: [],
});
const home = () => site.http('shop.test', `/?${randomUUID()}`);
const options = () => {
  const database = new Sqlite(`${layoutOf(site.folder).databaseOf(shop.id)}/${DATABASE}`, { readonly: true });
  try {
    const rows = database.prepare('select option_name, option_value from wp_options').raw().all();
    return new Map(rows.map((row) => [String(Object(row)[0]), String(Object(row)[1])]));
  } finally {
    database.close();
  }
};

test('a plugin is activated after a look at its pages, and the same order does nothing again', async () => {
  const order = orderOf({ id: 'good', status: 'active', autoUpdate: true });
  const outcome = { changed: { id: 'good/good.php', name: 'good', version: '2.0' } };
  expect(await site.host.changeItem(shop, order)).toEqual(outcome);
  expect(await site.host.changeItem(shop, order)).toEqual(outcome);
  expect((await home()).text).toContain('<p>good plugin</p>');
  expect(options().get('auto_update_plugins')).toContain('good/good.php');
});

test('a plugin that breaks a page is rolled back to the checkpoint', async () => {
  expect(await site.host.changeItem(shop, orderOf({ id: 'front', status: 'active' }))).toEqual({
    rolledBack: expect.stringMatching(
      /^the home page answers 500, and 200 before: .*broken in front in wp-content\/plugins\/front\/front\.php:\d+$/,
    ),
  });
  expect((await home()).status).toBe(200);
  expect(options().get('active_plugins')).toBe('a:0:{}');
});

test('a change that the platform did not live to finish is undone by the next attempt', async () => {
  const order = orderOf({ id: 'good', status: 'active' });
  const begun = { changeId: order.changeId, stage: 'changing', expected: null, changed: null, reason: null };
  await writeFile(layoutOf(site.folder).changeOf(shop.id), JSON.stringify(begun));
  expect(await site.host.changeItem(shop, order)).toEqual({ rolledBack: 'the host was interrupted' });
});

test('what changes no page needs no checkpoint, and what is not there is refused', async () => {
  const unchecked = { checkpointId: null };
  const auto = { ...orderOf({ id: 'good', autoUpdate: true }), ...unchecked };
  expect(await site.host.changeItem(shop, auto)).toMatchObject({ changed: { id: 'good/good.php' } });
  const missing = { ...orderOf({ id: 'nope', autoUpdate: true }), ...unchecked };
  expect(await site.host.changeItem(shop, missing)).toEqual({ refused: 'There is no plugin "nope"' });
  const bare = { ...orderOf({ id: 'good', status: 'active' }), ...unchecked };
  await expect(site.host.changeItem(shop, bare)).rejects.toThrow(PermanentHostError);
});

describe('limits of PHP', () => {
  const seen = async (query = '') => site.http('shop.test', `/limits.php?${randomUUID()}${query}`);
  const ini = async () => JSON.parse((await seen()).text);
  const uploads = async (bytes: number) =>
    (await site.http('shop.test', '/limits.php', { method: 'POST', body: 'x'.repeat(bytes) })).status;

  test('are what PHP really gives', async () => {
    await writeFile(
      site.file(shop, 'limits.php'),
      `<?php if (isset($_GET['mb'])) strlen(str_repeat('x', (int) $_GET['mb'] << 20));
        echo json_encode(array_map(ini_get(...), ['memory_limit', 'upload_max_filesize', 'max_input_vars']));`,
    );
    expect(await ini()).toEqual(['300M', '2M', '1000']);
    expect([(await seen('&mb=275')).status, (await seen('&mb=310')).status]).toEqual([200, 500]);
    expect([await uploads(2e6), await uploads(4e6)]).toEqual([200, 413]);
  });

  test('stay as they were if the website is worse off', async () => {
    const demanding = site.file(shop, 'wp-content/mu-plugins/demanding.php');
    await mkdir(dirname(demanding), { recursive: true });
    await writeFile(demanding, `<?php if (ini_get('max_input_vars') === '2000') throw new Error('too few');`);
    const applied = site.host.apply({ ...shop, php: { ...LIMITS, inputVars: 2_000 } });
    await expect(applied).rejects.toThrow(
      /^shop keeps its limits of PHP, because with the new ones the home page answers 500, and 200 before/,
    );
    expect(await ini()).toEqual(['300M', '2M', '1000']);
    await rm(demanding);
  });
});

loginCases(() => ({
  root: site.file(shop, ''),
  create(user) {
    // PHP has the machine's time, by which a login lasts a minute.
    site.clock.advance(Date.now() - site.clock.now().getTime());
    return site.host.createLogin(shop, user);
  },
  async use(token) {
    const { status, text } = await site.http('shop.test', `${LOGIN_PATH}?token=${token}`);
    return { status, body: text };
  },
}));

test('a removed website takes the record of its changes with it', async () => {
  const { changeOf } = layoutOf(site.folder);
  expect(existsSync(changeOf(shop.id))).toBe(true);
  await site.host.remove(shop);
  expect(existsSync(changeOf(shop.id))).toBe(false);
});
