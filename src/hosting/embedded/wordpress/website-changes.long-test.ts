import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { InstallState } from '../../contract/install-state.ts';
import type { ItemChange, ItemOrder } from '../../contract/wordpress-changes.ts';
import { LOGIN_PATH } from '../../contract/wordpress-login.ts';
import { siteState } from '../../policy/edge.fixture.ts';
import { SEEN } from '../../runtime/wasm/library-script.ts';
import { testItemChanges } from '../../websites/changes/change-cases.fixture.ts';
import { type ChangedWebsite, checkpointOf } from '../../websites/changes/changed-website.fixture.ts';
import { PLUGIN, putPlugin } from '../../websites/changes/plugin-source.fixture.ts';
import { testUpdates } from '../../websites/changes/update-cases.fixture.ts';
import { loginCases } from '../../websites/login/login-cases.fixture.ts';
import type { TestHost } from '../embedded-host.fixture.ts';
import { type Layout, layoutOf } from '../host-folder/layout.ts';
import { startWordPressHost } from './prepared-wordpress.fixture.ts';
import { DATABASE, PRIVATE } from './site.ts';

const LIMITS = { memoryMb: 300, uploadMb: 2, seconds: null, workers: null, inputVars: 1_000 };
let site: TestHost;
let layout: Layout;
let shop: InstallState;
let website: ChangedWebsite;

beforeAll(async () => {
  // However busy the machine is.
  const checkPace = { pageMs: HOUR_MS, patienceMs: HOUR_MS, wholeMs: HOUR_MS, pauseMs: 10 };
  // Updates compare its time with that of files, and PHP has the machine's.
  const clock = { ...manualClock(new Date()), now: () => new Date() };
  site = await startWordPressHost({ checkPace }, { clock });
  layout = layoutOf(site.folder);
  shop = { ...siteState('shop', ['shop.test'], { primaryHostname: 'shop.test' }), runtime: 'wordpress' };
  shop.php = LIMITS;
  const { wordpressVersion } = await site.host.apply(shop);
  const root = layout.filesOf(shop.id);
  website = {
    host: site.host,
    install: { ...shop, wordpressVersion: wordpressVersion ?? '' },
    files: await putPlugin({ root, private: join(root, PRIVATE), seenPrivate: SEEN.private }),
    coreOf: layout.coreOf,
    updateJournal: layout.updateOf(shop.id),
    async activate(files) {
      const active = files.map((file, at) => `i:${at};s:${file.length}:"${file}";`).join('');
      inDatabase((database) =>
        database
          .prepare(`update wp_options set option_value = ? where option_name = 'active_plugins'`)
          .run(`a:${files.length}:{${active}}`),
      );
    },
    async page(path) {
      const { status, text } = await site.http('shop.test', path);
      return { status, body: text };
    },
    async option(name) {
      const read = `select option_value from wp_options where option_name = ?`;
      return String(inDatabase((database) => database.prepare(read).pluck().get(name)) ?? '');
    },
    read: (path) => ifThere(readFile(join(root, 'wp-content', path), 'utf8')),
  };
  await website.activate([PLUGIN]);
});
afterAll(async () => {
  await site?.close();
});

function inDatabase<Result>(work: (database: Sqlite.Database) => Result): Result {
  const database = new Sqlite(join(layout.databaseOf(shop.id), DATABASE));
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const orderOf = (checkpointId: string | null, change: Partial<ItemChange>): ItemOrder => ({
  changeId: randomUUID(),
  checkpointId,
  change: { kind: 'plugin', id: null, source: null, status: null, autoUpdate: null, ...change },
  pages: [],
});

testItemChanges(() => website);

test('a change that the platform did not live to finish is undone by the next attempt', async () => {
  const order = orderOf(await checkpointOf(website), { id: 'front', status: 'active' });
  const begun = { changeId: order.changeId, stage: 'changing', expected: null, changed: null, reason: null };
  await writeFile(layout.changeOf(shop.id), JSON.stringify(begun));
  expect(await site.host.changeItem(shop, order)).toEqual({ rolledBack: 'the host was interrupted' });
});

test('what changes no page needs no checkpoint, and what is not there is refused', async () => {
  expect(await site.host.changeItem(shop, orderOf(null, { id: 'front', autoUpdate: true }))).toMatchObject({
    changed: { id: 'front/front.php' },
  });
  expect(await site.host.changeItem(shop, orderOf(null, { id: 'nope', autoUpdate: true }))).toEqual({
    refused: 'There is no plugin "nope"',
  });
  const bare = orderOf(null, { id: 'front', status: 'active' });
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
  create: (user) => site.host.createLogin(shop, user),
  async use(token) {
    const { status, text } = await site.http('shop.test', `${LOGIN_PATH}?token=${token}`);
    return { status, body: text };
  },
}));

testUpdates(() => website);

test('a restore brings back the former WordPress, and a request switches it again', async () => {
  const { wordpressVersion } = website.install;
  const later = await site.host.apply(shop);
  expect(later.wordpressVersion).not.toBe(wordpressVersion);
  const checkpointId = await checkpointOf(website);
  expect(await site.host.apply({ ...shop, wordpressVersion })).toMatchObject({ wordpressVersion });
  expect(await website.option('db_version')).not.toBe('99000');
  const again = { wordpressVersion: later.wordpressVersion ?? undefined };
  await site.host.restore(shop, checkpointId, again);
  expect(await site.host.apply(shop)).toMatchObject(again);
  expect(await website.option('db_version')).toBe('99000');
});

test('a removed website takes the records of its changes with it', async () => {
  const records = [layout.changeOf(shop.id), layout.updateOf(shop.id)];
  expect(records.map((path) => existsSync(path))).toEqual([true, true]);
  await site.host.remove(shop);
  expect(records.map((path) => existsSync(path))).toEqual([false, false]);
});
