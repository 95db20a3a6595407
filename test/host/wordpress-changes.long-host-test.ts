import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import type { InstallState } from '../../src/hosting/contract/install-state.ts';
import type { ItemChange, ItemOrder, ItemOutcome } from '../../src/hosting/contract/wordpress-changes.ts';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { connectHost, type RemoteHost } from '../../src/hosting/remote/client.ts';
import {
  expectFormer as expectFormerOf,
  homePage,
} from '../../src/hosting/websites/changes/changed-website.fixture.ts';
import { type CustomerFiles, PLUGIN } from '../../src/hosting/websites/changes/plugin-source.fixture.ts';
import { visit } from '../edge.ts';
import { changedWebsite } from './changed-website.ts';
import type { TestMachine } from './machine.ts';
import { installPlugin } from './plugin-source.ts';
import { createPreparedMachine } from './prepared.ts';
import { startKilledHost } from './start-killed-host.ts';
import { plainState } from './state.ts';

/** Every step of a change. */
const KILLED_AT = ['change begun', 'change made', 'checkpoint restored', 'change ended'] as const;

let machine: TestMachine;
let running: RunningMachine;
let host: RemoteHost;
let layout: LinuxLayout;
let files: CustomerFiles;
let install: InstallState;
/** One checkpoint is enough: no test changes what another one needs restored. */
let checkpointId: string;

const plugin = (name: string, code: string) => `<?php\n/*\nPlugin Name: ${name}\nVersion: 2.0\n*/\n${code}\n`;
const THEME = '<?php echo "<html><body><main>a theme of a test</main></body></html>";';

beforeAll(async () => {
  machine = await createPreparedMachine({}, { ownCores: true });
  layout = linuxLayout(machine.folder, machine.runFolder);
  await start();
  const [version = ''] = (await host.describe()).wordpressVersions;
  install = { ...plainState('changed'), wordpressVersion: version };
  await host.apply(install);
  files = await installPlugin(layout, install);
  // It is active by SQL, which the object cache does not see.
  await host.purge(install, 'object');
  const plugins = {
    'thrown/thrown.php': `register_activation_hook(__FILE__, static function () {
        update_option('left_by_thrown', 'yes');
        throw new Error('no such table');
      });`,
    'front/front.php': `if (PHP_SAPI !== 'cli') { throw new Error('broken in front'); }`,
    'twice/twice.php': 'function wp_head() {}',
    'good/good.php': `add_action('wp_footer', static fn() => print('<p>good plugin</p>'));`,
    'welcome/welcome.php': `add_action('activated_plugin', static function () {
        echo 'Hello';
        wp_safe_redirect(admin_url('admin.php?page=welcome'));
        exit;
      });`,
    'careful/careful.php': `if (is_admin()) {
        register_activation_hook(__FILE__, static fn() => update_option('careful', 'ready'));
      }`,
    'turns/turns.php': `register_deactivation_hook(__FILE__, static fn() => update_option('turns', 'left'));
      add_action('admin_init', static function () {
        // As many do once, after an update.
        if (PHP_SAPI === 'cli') exit(wp_safe_redirect(admin_url('index.php')));
      });`,
    'throws/throws.php': `register_deactivation_hook(__FILE__, static fn() => update_option('throws', 'left'));
      add_action('admin_init', static function () {
        if (PHP_SAPI === 'cli') throw new TypeError('Only in a browser.');
      });`,
    'dies/dies.php': `register_activation_hook(__FILE__, static fn() => wp_die('Dies needs a shop.'));`,
    // Another request deactivates the second one.
    'shy/shy.php': `add_action('activated_plugin', static function () {
        echo '<b>Shy needs a shop.</b>';
        deactivate_plugins('shy/shy.php');
      });`,
    'later/later.php': `add_action('template_redirect', static function () {
        require_once ABSPATH . 'wp-admin/includes/plugin.php';
        deactivate_plugins('later/later.php');
      });`,
    // Only in wp-admin.
    'private/private.php': `add_action('admin_init', static function () {
        if (current_user_can('activate_plugins')) deactivate_plugins('private/private.php');
      });`,
    'backend/backend.php': `add_action('admin_init', static fn() => missing_function());`,
    'hidden/hidden.php': `if ($GLOBALS['pagenow'] === 'wp-login.php') { status_header(404); exit; }`,
    'closed/closed.php': `add_action('template_redirect', static function () {
        status_header(503);
        exit('<html>We are back soon.</html>');
      });`,
    'needs/needs.php': '',
    'shop/extra.php': '',
    // Deleting it removes its file and then fails.
    'half/half.php': '',
  };
  for (const [path, code] of Object.entries(plugins)) {
    await files.write(`wp-content/plugins/${path}`, plugin(path, code));
  }
  await files.write(
    'wp-content/plugins/needs/needs.php',
    '<?php\n/*\nPlugin Name: Needs\nRequires PHP: 99.0\n*/\n',
  );
  await files.write(
    'wp-content/plugins/half/uninstall.php',
    "<?php unlink(__DIR__ . '/half.php'); throw new Error('half deleted');",
  );
  for (const [name, page] of [
    ['plain', THEME],
    ['faulty', '<?php throw new Error("broken theme");'],
  ]) {
    await files.write(`wp-content/themes/${name}/style.css`, `/*\nTheme Name: ${name}\nVersion: 1.0\n*/`);
    await files.write(`wp-content/themes/${name}/index.php`, page ?? '');
  }
  checkpointId = crypto.randomUUID();
  await host.snapshot(install, checkpointId);
});
afterAll(async () => {
  await host?.close();
  await running?.stop().catch(() => {});
  await machine?.remove();
});

/** Starts the host and answers its questions, as a control plane does. */
async function start(): Promise<void> {
  running = await machine.start({ checkPace: { pageMs: 20_000, pauseMs: 100 } });
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

const orderOf = (wanted: Partial<ItemChange>, changeId: string = crypto.randomUUID()): ItemOrder => ({
  changeId,
  checkpointId,
  change: { kind: 'plugin', id: null, source: null, status: null, autoUpdate: null, ...wanted },
  pages: [],
});
const change = (
  wanted: Partial<ItemChange>,
  { changeId }: { changeId?: string } = {},
): Promise<ItemOutcome> => host.changeItem(install, orderOf(wanted, changeId));

async function page(path: string): Promise<{ status: number; body: string }> {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const hosting = { edgeHttp, edgeHttps, ssh: sshListen };
  return visit({ hosting }, `http://${install.name}.sites.test${path}`);
}

const website = () => changedWebsite({ host, install, files, layout, page });
const home = () => homePage(website());
const option = (name: string) => website().option(name);
const has = (path: string) => existsSync(join(layout.htdocsOf(install.id), 'wp-content', path));

const expectFormer = () => expectFormerOf(website(), PLUGIN);

const FAILING: [string, RegExp][] = [
  ['thrown', /^PHP reports: no such table in .*plugins\/thrown\/thrown\.php:\d+$/],
  ['twice', /Cannot redeclare .*wp_head/],
  [
    'front',
    /^the home page answers 500, and 200 before: .*broken in front in wp-content\/plugins\/front\/front\.php:\d+$/,
  ],
  ['dies', /^WordPress ended early: .*Dies needs a shop/],
  ['shy', /^The plugin deactivated itself: Shy needs a shop$/],
  ['later', /^the plugin later\/later\.php is no longer active$/],
  ['private', /^the plugin private\/private\.php is no longer active$/],
  [
    'backend',
    /^the .* answers 500, and 200 before: .*missing_function\(\) in wp-content\/plugins\/backend\//,
  ],
];

test.each(FAILING)('a plugin that fails (%s) leaves the website as it was', async (id, reason) => {
  expect(await change({ id, status: 'active' })).toEqual({ rolledBack: expect.stringMatching(reason) });
  await expectFormer();
  expect(await option('left_by_thrown')).toBe('');
});

test('a plugin that hides the login form stays, with a warning', async () => {
  const hidden = { id: 'hidden/hidden.php', name: 'hidden/hidden.php', version: '2.0' };
  const warning = 'the login form answers 404, and 200 before';
  expect(await change({ id: 'hidden', status: 'active' })).toEqual({ changed: { ...hidden, warning } });
  expect(await change({ id: 'hidden', status: 'inactive' })).toEqual({ changed: hidden });
  await expectFormer();
});

test('a plugin that redirects to its welcome page and exits is active', async () => {
  const welcome = { changed: { id: 'welcome/welcome.php', name: 'welcome/welcome.php', version: '2.0' } };
  expect(await change({ id: 'welcome', status: 'active', autoUpdate: true })).toEqual(welcome);
  expect(await option('active_plugins')).toContain('welcome/welcome.php');
  expect(await option('auto_update_plugins')).toContain('welcome/welcome.php');
  expect(await change({ id: 'welcome', status: 'inactive', autoUpdate: false })).toEqual(welcome);
  await expectFormer();
});

test('a plugin that prepares for its activation only in wp-admin is activated as there', async () => {
  const careful = { changed: { id: 'careful/careful.php', name: 'careful/careful.php', version: '2.0' } };
  expect(await change({ id: 'careful', status: 'active' })).toEqual(careful);
  expect(await option('careful')).toBe('ready');
  expect(await change({ id: 'careful', status: 'inactive' })).toEqual(careful);
});

test('a plugin is deactivated although it or another one ends PHP in wp-admin', async () => {
  await website().activate([PLUGIN, 'throws/throws.php', 'turns/turns.php']);
  for (const id of ['throws', 'turns']) {
    expect(await change({ id, status: 'inactive' })).toMatchObject({ changed: { id: `${id}/${id}.php` } });
  }
  expect([await option('turns'), await option('throws')]).toEqual(['left', 'left']);
  await expectFormer();
});

test('a maintenance page stays only if the user keeps it', async () => {
  const closed = { id: 'closed/closed.php', name: 'closed/closed.php', version: '2.0' };
  const text = 'the home page answers 503, and 200 before';
  expect(await change({ id: 'closed', status: 'active' })).toEqual({ rolledBack: text, mayKeep: true });
  await expectFormer();
  const kept = await change({ id: 'closed', status: 'active', keep: true });
  expect(kept).toEqual({ changed: { ...closed, warning: text } });
  expect(await change({ id: 'closed', status: 'inactive' })).toEqual({ changed: closed });
  expect(await change({ id: 'front', status: 'active', keep: true })).toEqual({
    rolledBack: expect.stringMatching(/^the home page answers 500, and 200 before: /),
  });
  await expectFormer();
});

test.each(KILLED_AT)(
  'a host killed at "%s" leaves the former or the new website after the next attempt',
  async (step) => {
    const id = step === 'checkpoint restored' ? 'front' : 'good';
    const order = orderOf({ id, status: 'active' });
    await running.stop();
    const killed = once(await startKilledHost(machine, step), 'exit');
    const remote = connect();
    await expect(remote.changeItem(install, order)).rejects.toThrow();
    await remote.close();
    await killed;

    await host.close();
    await start();
    const outcome = await host.changeItem(install, order);
    expect(await host.changeItem(install, order)).toEqual(outcome);
    if (step === 'change begun' || step === 'checkpoint restored') {
      expect(outcome).toEqual({ rolledBack: expect.any(String) });
    } else {
      expect(outcome).toMatchObject({ changed: { id: 'good/good.php' } });
      expect((await home()).body).toContain('<p>good plugin</p>');
      await change({ id, status: 'inactive' });
    }
    await expectFormer();
  },
);

test('refuses what is not there, what always runs, what is active, and what needs another PHP', async () => {
  const refused = async (wanted: Partial<ItemChange>) => {
    const outcome = await change(wanted);
    return 'refused' in outcome ? outcome.refused : outcome;
  };
  expect(await refused({ id: 'nope', status: 'active' })).toBe('There is no plugin "nope"');
  expect(await refused({ id: 'source.php', status: 'inactive' })).toContain('is a must-use plugin');
  expect(await refused({ id: 'homeport.php', status: 'deleted' })).toContain('is a must-use plugin');
  expect(await refused({ id: PLUGIN, status: 'deleted' })).toContain('is active');
  expect(await refused({ id: 'shop/extra.php', status: 'deleted' })).toContain('"shop/shop.php" in the same');
  expect(await refused({ id: 'needs', status: 'active' })).toContain('99.0');
  const active = await option('stylesheet');
  expect(await refused({ kind: 'theme', id: active, status: 'deleted' })).toContain('comes with WordPress');
  expect(await refused({ source: { file: 'private/none.zip' } })).toBe('There is no file private/none.zip');
  await expectFormer();
});

test('deletes no folder that is not a theme', async () => {
  await files.write('wp-content/uploads/style.css', '/*\nTheme Name: uploads\n*/');
  await files.write('wp-content/uploads/index.php', '');
  for (const id of ['../uploads', '.', '..', 'plain/', 'plain\\']) {
    await expect(change({ kind: 'theme', id, status: 'deleted' }), id).rejects.toThrow();
  }
  await files.write('wp-content/themes/group/one/style.css', '/*\nTheme Name: One\n*/');
  expect(await change({ kind: 'theme', id: 'group', status: 'deleted' })).toEqual({
    refused: 'There is no theme "group"',
  });
  const kept = ['uploads/style.css', 'themes/plain/style.css', 'themes/group/one/style.css'];
  expect(kept.filter((path) => !has(path))).toEqual([]);
});

test('a half-made deletion is rolled back', async () => {
  expect(await change({ id: 'half', status: 'deleted' })).toEqual({
    rolledBack: expect.stringContaining('half deleted'),
  });
  expect(has('plugins/half/half.php')).toBe(true);
  await expectFormer();
});

test('removes a new plugin again that the website cannot activate', async () => {
  await files.offer('');
  // WordPress checks the first file of a package before it installs it, and activates the first by name.
  await files.pack('two.zip', {
    'two/a.php': '<?php\n/*\nPlugin Name: Z\n*/\n',
    'two/b.php': '<?php\n/*\nPlugin Name: A\nRequires PHP: 99.0\n*/\n',
  });
  expect(await change({ source: { file: 'private/two.zip' }, status: 'active' })).toEqual({
    refused: expect.stringContaining('99.0'),
  });
  expect(has('plugins/two')).toBe(false);
});

test('deactivates a plugin that breaks the website', async () => {
  await files.write('wp-content/plugins/shop/shop.php', plugin('Shop', `throw new Error('broken');`));
  // PHP looks at changed files after a moment.
  await expect.poll(async () => (await home()).status).toBe(500);
  expect(await change({ id: PLUGIN, status: 'inactive' })).toMatchObject({ changed: { id: PLUGIN } });
  expect((await home()).status).toBe(200);
  expect(await option('active_plugins')).toBe('a:0:{}');
});

test('installs a plugin from a ZIP file, and refuses it a second time', async () => {
  await files.offer('');
  const source = { file: 'private/packages/shop.zip' };
  expect(await change({ source })).toEqual({ refused: expect.stringContaining('already exists') });
  expect(await change({ id: PLUGIN, status: 'deleted' })).toMatchObject({ changed: { id: PLUGIN } });
  expect(await change({ source, status: 'active' })).toEqual({
    changed: { id: PLUGIN, name: 'Shop', version: '1.1' },
  });
  expect((await home()).body).toContain('<p>shop 1.1</p>');
});

test('switches the theme, and returns to the former one if the new one fatals', async () => {
  expect(await change({ kind: 'theme', id: 'plain', status: 'active' })).toEqual({
    changed: { id: 'plain', name: 'plain', version: '1.0' },
  });
  expect((await home()).body).toContain('a theme of a test');
  checkpointId = crypto.randomUUID();
  await host.snapshot(install, checkpointId);
  expect(await change({ kind: 'theme', id: 'faulty', status: 'active' })).toEqual({
    rolledBack: expect.stringContaining('answers 500'),
  });
  expect((await home()).body).toContain('a theme of a test');
  expect(await change({ kind: 'theme', id: 'faulty', status: 'deleted' })).toMatchObject({
    changed: { id: 'faulty' },
  });
  expect([has('themes/faulty'), await option('stylesheet')]).toEqual([false, 'plain']);
});
