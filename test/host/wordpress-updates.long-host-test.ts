import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import type { InstallState } from '../../src/hosting/contract/install-state.ts';
import type { AvailableUpdate, UpdateOutcome } from '../../src/hosting/contract/wordpress-updates.ts';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { connectHost, type RemoteHost } from '../../src/hosting/remote/client.ts';
import {
  type CustomerFiles,
  PLUGIN,
  pluginFile,
} from '../../src/hosting/websites/changes/plugin-source.fixture.ts';
import { visit } from '../edge.ts';
import type { TestMachine } from './machine.ts';
import { installPlugin } from './plugin-source.ts';
import { createPreparedMachine } from './prepared.ts';
import { startKilledHost } from './start-killed-host.ts';
import { plainState } from './state.ts';

/** The steps of an update that a host is killed at. */
const KILLED_AT = ['update begun', 'update made', 'checkpoint restored', 'update ended'];

let machine: TestMachine;
let running: RunningMachine;
let host: RemoteHost;
let layout: LinuxLayout;
let files: CustomerFiles;
let install: InstallState;

beforeAll(async () => {
  machine = await createPreparedMachine({ HOMEPORT_INSTALL_DISK_GB: '1' }, { ownCores: true });
  layout = linuxLayout(machine.folder, machine.runFolder);
  await start();
  const [version = ''] = (await host.describe()).wordpressVersions;
  install = { ...plainState('updated'), wordpressVersion: version };
  await host.apply(install);
  files = await installPlugin(layout, install);
});
afterAll(async () => {
  await host?.close();
  await running?.stop().catch(() => {});
  await machine?.remove();
});

/** Starts the host and answers its questions, as a control plane does. */
async function start(): Promise<void> {
  // A page that hangs is requested three times.
  running = await machine.start({ checkPace: { pageMs: 6_000, pauseMs: 100 } });
  host = connect();
}

function connect(): RemoteHost {
  const remote = connectHost({ name: 'test', socket: `${machine.runFolder}/host.sock` });
  remote.answer(
    { backupPassword: async () => 'of the test', sshLogin: async () => null, sshRelay: async () => null },
    () => {},
  );
  return remote;
}

async function page(path = '/'): Promise<{ status: number; body: string }> {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const hosting = { edgeHttp, edgeHttps, ssh: sshListen };
  return visit({ hosting }, `http://${install.name}.sites.test${path}`);
}

/** The former website, whole. */
async function expectFormer(): Promise<void> {
  const { status, body } = await page(`/?${crypto.randomUUID()}`);
  expect([status, body.includes('<p>shop 1.0</p>'), body.includes('</html>')]).toEqual([200, true, true]);
  const file = join(layout.htdocsOf(install.id), 'wp-content/plugins', PLUGIN);
  expect(await readFile(file, 'utf8')).toBe(pluginFile('1.0'));
}

const planned = async (): Promise<AvailableUpdate[]> => {
  const plan = await host.planUpdates(install, { core: null, plugins: 'all', themes: 'all' });
  expect(plan.refused).toEqual([]);
  return plan.updates;
};

async function checkpoint(): Promise<string> {
  const id = crypto.randomUUID();
  await host.snapshot(install, id);
  return id;
}

async function update(
  updates: AvailableUpdate[],
  pages: string[] = [],
  keep = false,
): Promise<UpdateOutcome> {
  const order = { updateId: crypto.randomUUID(), checkpointId: await checkpoint(), updates, pages, keep };
  return host.updateWordpress(install, order);
}

const BREAKING: [string, string, RegExp, boolean?][] = [
  [
    'fatals',
    `if (PHP_SAPI !== 'cli') throw new Error('broken plugin');`,
    /answers 500, and 200 before: Uncaught Error: broken plugin in wp-content\/plugins\/shop\/shop\.php:\d+$/,
  ],
  [
    'fatals on the named page only',
    `if (str_contains($_SERVER['REQUEST_URI'], 'named')) exit;`,
    /^\/\?named=1 lacks /,
    true,
  ],
  ['hangs', `if ($_SERVER['REQUEST_URI'] === '/') sleep(60);`, /^the home page gives no answer: /],
  [
    'hides the page',
    `add_action('template_redirect', static fn() => exit('<html></html>'));`,
    /^the home page lacks /,
    true,
  ],
  [
    'changes siteurl',
    `global $wpdb; $wpdb->update($wpdb->options, ['option_value' => 'https://evil.test'], ['option_name' => 'siteurl']);`,
    /^the option siteurl is "https:\/\/evil\.test", and "http/,
  ],
  [
    'fills the disk',
    `for ($i = 0; $i < 3; $i++) { $f = fopen(HOMEPORT['root'] . "/big$i", 'w'); ftruncate($f, 500 * 1024 ** 2); fclose($f); }`,
    /Disk quota exceeded/,
  ],
];

test.each(BREAKING)('rolls back a plugin that %s', async (_name, code, reason, mayKeep = false) => {
  await files.offer(code);
  const updates = await planned();
  expect(await update(updates, ['/?named=1'])).toEqual({
    made: [],
    skipped: [],
    restored: true,
    rolledBack: {
      update: updates[0],
      reason: expect.stringMatching(reason),
      ...(mayKeep ? { mayKeep } : {}),
    },
    wordpressVersion: install.wordpressVersion,
  });
  await expectFormer();
});

test('keeps a plugin that changes the structure of pages on request', async () => {
  await files.offer(`add_action('template_redirect', static fn() => exit('<html></html>'));`);
  const updates = await planned();
  expect(await update(updates, [], true)).toMatchObject({
    made: updates,
    restored: false,
    rolledBack: null,
    warning: expect.stringMatching(/^the home page lacks /),
  });
  await files.write(`wp-content/plugins/${PLUGIN}`, pluginFile('1.0'));
});

test('a package with the same version is no update', async () => {
  await files.offer('');
  const updates = await planned();
  await files.offer('', '1.0');
  const outcome = await update(updates);
  expect(outcome).toMatchObject({
    made: [],
    skipped: [{ update: updates[0], reason: 'the package has the same version 1.0' }],
    restored: false,
  });
  await expectFormer();
});

test('an unpacked package that could not be installed is removed, and nothing is restored', async () => {
  await files.offer('');
  const updates = await planned();
  await files.write(
    'wp-content/mu-plugins/full.php',
    `<?php add_filter('upgrader_pre_install', static fn() => new WP_Error('full', 'Disk full'));`,
  );
  expect(await update(updates)).toMatchObject({
    skipped: [{ update: updates[0], reason: 'Disk full' }],
    restored: false,
  });
  await rm(join(layout.htdocsOf(install.id), 'wp-content/mu-plugins/full.php'));
  await expectFormer();
  expect(await readdir(join(layout.htdocsOf(install.id), 'wp-content/upgrade'))).toEqual([]);
});

test('leaves a page alone that was broken before', async () => {
  await files.write(
    'wp-content/mu-plugins/broken.php',
    `<?php if (($_GET['p'] ?? '') === '1') { http_response_code(500); exit; }`,
  );
  await files.offer('');
  expect(await update(await planned(), ['/?p=1'])).toMatchObject({ rolledBack: null });
  await rm(join(layout.htdocsOf(install.id), 'wp-content/mu-plugins/broken.php'));
  await files.write(`wp-content/plugins/${PLUGIN}`, pluginFile('1.0'));
});

test('continues an update that an earlier version of the host began, and never rolls back a finished one', async () => {
  await files.offer('');
  const updates = await planned();
  const order = { updateId: crypto.randomUUID(), checkpointId: await checkpoint(), updates, pages: [] };
  const outcome = await host.updateWordpress(install, order);
  expect(outcome).toMatchObject({ made: updates, rolledBack: null });
  const journal = layout.updateOf(install.id);
  const entry = JSON.parse(await readFile(journal, 'utf8'));
  const asWritten = (change: object) => writeFile(journal, JSON.stringify({ ...entry, ...change }));

  await asWritten({ before: { of: 'another version' } });
  expect(await host.updateWordpress(install, order)).toEqual(outcome);

  // Pages of visitors alone, and settings.
  const pages = entry.before.pages.filter(({ kind }: { kind: string }) => kind === 'visitor');
  const { fatals, state: settings } = entry.before;
  await asWritten({ stage: 'checking', before: { pages, fatals, settings } });
  expect(await host.updateWordpress(install, order)).toEqual(outcome);
  const { siteurl } = settings;
  const before = { pages, fatals, settings: { ...settings, siteurl: `${siteurl}/former` } };
  await asWritten({ stage: 'checking', before });
  expect(await host.updateWordpress(install, order)).toMatchObject({
    rolledBack: { reason: expect.stringContaining('the option siteurl') },
  });
  await expectFormer();
});

test.each(KILLED_AT)(
  'a host killed at "%s" leaves the former or the new website after the next attempt',
  async (step) => {
    const isBroken = step === 'checkpoint restored';
    await files.write(`wp-content/plugins/${PLUGIN}`, pluginFile('1.0'));
    await files.offer(isBroken ? `if (PHP_SAPI !== 'cli') throw new Error('broken');` : '');
    const updates = await planned();
    const order = { updateId: crypto.randomUUID(), checkpointId: await checkpoint(), updates, pages: [] };
    await running.stop();
    const killed = once(await startKilledHost(machine, step), 'exit');
    const remote = connect();
    await expect(remote.updateWordpress(install, order)).rejects.toThrow();
    await remote.close();
    await killed;

    await host.close();
    await start();
    const outcome = await host.updateWordpress(install, order);
    expect(await host.updateWordpress(install, order)).toEqual(outcome);
    if (isBroken) {
      expect(outcome).toMatchObject({ made: [], rolledBack: { update: updates[0] } });
      await expectFormer();
    } else {
      expect(outcome).toMatchObject({ made: updates, rolledBack: null });
      expect((await page(`/?${crypto.randomUUID()}`)).body).toContain('<p>shop 1.1</p>');
    }
  },
);
