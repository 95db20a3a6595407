import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import type { InstallState } from '../../src/hosting/contract/install-state.ts';
import { NO_RULES } from '../../src/hosting/contract/website-rules.ts';
import type { UpdateOutcome } from '../../src/hosting/contract/wordpress-updates.ts';
import { createDatabases } from '../../src/hosting/linux/daemons/databases.ts';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { hashVisitorPassword } from '../../src/hosting/policy/visitor-password.ts';
import { connectHost, type RemoteHost } from '../../src/hosting/remote/client.ts';
import { type CustomerFiles, PLUGIN } from '../../src/hosting/websites/changes/plugin-source.fixture.ts';
import type { TestMachine } from './machine.ts';
import { installPlugin } from './plugin-source.ts';
import { createPreparedMachine } from './prepared.ts';
import { plainState } from './state.ts';

let machine: TestMachine;
let running: RunningMachine;
let host: RemoteHost;
let layout: LinuxLayout;
let install: InstallState;
let files: CustomerFiles;
let checkpointId: string;

beforeAll(async () => {
  // Where nothing listens, messages stay in the queue.
  machine = await createPreparedMachine({ HOMEPORT_RELAY_URL: 'smtp://127.0.0.1:1' });
  layout = linuxLayout(machine.folder, machine.runFolder);
  running = await machine.start({ checkPace: { pauseMs: 50 } });
  host = connectHost({ name: 'test', socket: `${machine.runFolder}/host.sock` });
  host.answer(
    { backupPassword: async () => 'of the test', sshLogin: async () => null, sshRelay: async () => null },
    () => {},
  );
  const [version = ''] = (await host.describe()).wordpressVersions;
  install = { ...plainState('probed'), wordpressVersion: version };
  await host.apply(install);
  files = await installPlugin(layout, install);
  checkpointId = crypto.randomUUID();
  await host.snapshot(install, checkpointId);
});
afterAll(async () => {
  await host?.close();
  await running?.stop().catch(() => {});
  await machine?.remove();
});

/** Updates the plugin to a version with this code. A version that is rolled back leaves the checkpoint as it was. */
async function update(code: string): Promise<UpdateOutcome> {
  await files.offer(code);
  const { updates } = await host.planUpdates(install, { core: null, plugins: 'all', themes: [] });
  return host.updateWordpress(install, { updateId: crypto.randomUUID(), checkpointId, updates, pages: [] });
}

const query = (sql: string) => createDatabases({ layout }).query(`hp_${install.id.replaceAll('-', '')}`, sql);

const thrown = (hook: string) => `add_action('${hook}', static fn() => throw new Error('${hook} fails'));`;
const placed = (what: string, error: string) =>
  new RegExp(`^${what}.*: Uncaught Error: ${error} in wp-content/plugins/shop/shop\\.php:\\d+$`);

/** A fault in each kind of work that the check of a website watches, and where it shows. findings.test.ts judges them without a host. */
const BREAKING: readonly [what: string, code: string, reason: RegExp][] = [
  ['wp-admin', thrown('admin_menu'), placed('the .* answers 500, and 200 before', 'admin_menu fails')],
  [
    'every page of users who are signed in',
    `add_action('init', static fn() => is_user_logged_in() && throw new Error('init fails'));`,
    placed('the .* answers 500, and 200 before', 'init fails'),
  ],
  [
    'the REST API and the editor',
    thrown('rest_api_init'),
    placed('the (REST API|editor) answers 500, and 200 before', 'rest_api_init fails'),
  ],
  [
    'scheduled tasks',
    `if (wp_doing_cron()) { throw new Error('cron fails'); }`,
    placed('scheduled tasks fail', 'cron fails'),
  ],
  [
    'the list of posts',
    thrown('load-edit.php'),
    placed('the list of posts answers 500, and 200 before', 'load-edit.php fails'),
  ],
  ['new comments', thrown('comment_post'), placed('a new comment fails', 'comment_post fails')],
  [
    'the speed of all pages',
    `if (PHP_SAPI !== 'cli') { for ($end = microtime(true) + 6; microtime(true) < $end;) { hash('sha256', 'x'); } }`,
    /^the home page takes \d+\.\d s, and \d\.\d s before$/,
  ],
  [
    'all content pages',
    `add_action('wp_footer', static fn() => $GLOBALS['wpdb']->query("DELETE FROM {$GLOBALS['wpdb']->posts} WHERE post_type = 'page'"));`,
    /^the website has 0 pages, and \d+ before$/,
  ],
  [
    'its own scripts',
    `add_action('wp_enqueue_scripts', static fn() => wp_enqueue_script('shop', plugins_url('gone.js', __FILE__)));`,
    /^the home page loads \/wp-content\/plugins\/shop\/gone\.js, which answers 404$/,
  ],
];

test.each(BREAKING)('rolls back a version that breaks %s', async (_name, code, reason) => {
  const { rolledBack, restored } = await update(code);
  expect([rolledBack?.reason, restored]).toEqual([expect.stringMatching(reason), true]);
});

/** A website with all that plugins do on purpose, and a fault that it had before. */
const UNUSUAL = `<?php
add_filter('rest_authentication_errors', static fn($error) => is_user_logged_in() ? $error : new WP_Error('closed', 'No', ['status' => 401]));
add_action('wp_footer', static fn() => print(str_repeat('x', random_int(0, 400)) . uniqid()));
add_action('login_init', static fn() => wp_redirect('https://id.example.test/') && exit);
add_action('template_redirect', static fn() => is_front_page() && wp_safe_redirect('/?page_id=2') && exit);
add_action('wp_enqueue_scripts', static fn() => wp_enqueue_script('lost', content_url('/lost.' . random_int(1, 999) . '.js')));
add_action('load-edit.php', static fn() => throw new Error('broken for years'));
add_action('admin_init', static fn() => is_user_logged_in() || wp_die('Not here', '', 404));
add_action('comment_post', static fn() => add_action('shutdown', static fn() => update_option('sent_later', 'a comment')));
add_action('comment_post', static fn() => mail('owner@shop.test', 'A comment', 'Please read it.'));
foreach (['wp_login', 'wp_login_failed', 'set_auth_cookie', 'set_logged_in_cookie'] as $recorded) {
    add_action($recorded, static fn() => error_log('signed in by ' . current_action()));
}
`;

test('what plugins do on purpose is no fault, nor is an old one, and nothing is left behind', async () => {
  await files.write('wp-content/mu-plugins/unusual.php', UNUSUAL);
  await query(`UPDATE wp_options SET option_value = '' WHERE option_name = 'permalink_structure'`);
  const password = {
    user: 'guest',
    hash: await hashVisitorPassword('of the test'),
    exemptAddresses: [],
    passKey: 'k'.repeat(43),
  };
  await host.apply({ ...install, rules: { ...NO_RULES, password } });
  expect(await update('')).toMatchObject({ rolledBack: null, made: [{ id: PLUGIN, to: '1.1' }] });
  const left = await query(
    `SELECT CONCAT_WS(' ',
       (SELECT COUNT(*) FROM wp_usermeta WHERE meta_key = 'session_tokens'),
       (SELECT COUNT(*) FROM wp_posts WHERE post_status = 'auto-draft'),
       (SELECT COUNT(*) FROM wp_comments),
       (SELECT COUNT(*) FROM wp_options WHERE option_name LIKE 'homeport_probe_%' OR option_name LIKE 'recovery_mode_%' OR option_name = 'sent_later'))`,
  );
  expect(left).toEqual([['0 0 1 0']]);
  const log = await readFile(join(layout.privateOf(install.id), 'php-error.log'), 'utf8');
  expect(log).toContain('broken for years');
  expect(log).not.toContain('signed in by');
  expect(await host.readMail(install)).toMatchObject({ queued: 0, sentLastHour: 0 });
});

test('a restore of a website that was broken succeeds, and says what does not work', async () => {
  const backupId = crypto.randomUUID();
  await host.snapshot(install, backupId);
  const { warning } = await host.restore(install, backupId);
  expect(warning).toMatch(
    /^the list of posts answers 500: Uncaught Error: broken for years in wp-content\/mu-plugins\/unusual\.php:7 \(and 1 more\)$/,
  );
});
