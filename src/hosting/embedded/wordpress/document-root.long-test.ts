import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../lib/durations.ts';
import type { InstallState } from '../../contract/install-state.ts';
import { siteState } from '../../policy/edge.fixture.ts';
import type { TestHost } from '../embedded-host.fixture.ts';
import { startWordPressHost } from './prepared-wordpress.fixture.ts';

let site: TestHost;
let shop: InstallState;

beforeAll(async () => {
  site = await startWordPressHost();
  shop = { ...siteState('shop', ['shop.test'], { primaryHostname: 'shop.test' }), runtime: 'wordpress' };
  await site.host.apply(shop);
  await site.write(shop, 'wp-content/mu-plugins/roots.php', PLUGIN);
}, 120_000);
afterAll(() => site?.close());

/** Notes what WordPress takes as its folders, and does what plugins do there. */
const PLUGIN = `<?php
add_action('init', function () {
    require_once ABSPATH . 'wp-admin/includes/file.php';
    $is_same = realpath(ABSPATH) === realpath(dirname(WP_CONTENT_DIR)) && get_home_path() === ABSPATH;
    file_put_contents(WP_CONTENT_DIR . '/roots.txt', $is_same ? "the document root\\n" : ABSPATH . "\\n", FILE_APPEND);
    if (isset($_GET['writes'])) {
        file_put_contents(ABSPATH . 'robots.txt', "of the plugin\\n");
        $config = get_home_path() . 'wp-config.php';
        file_put_contents($config, str_replace("<?php\\n", "<?php\\ndefine('WP_CACHE', false);\\n", file_get_contents($config)));
        echo json_encode([@file_put_contents(ABSPATH . 'wp-includes/version.php', 'x'), @file_put_contents(ABSPATH . 'wp-load.php', 'x')]);
        exit;
    }
    if (isset($_GET['enter'])) {
        wp_set_auth_cookie(1);
        exit;
    }
}, 1);
`;

const signedIn = (path: string, cookie: string) => site.http('shop.test', path, { headers: { cookie } });

test.each(['/', '/wp-login.php', '/wp-admin/admin-ajax.php?action=none', '/xmlrpc.php'])(
  'ABSPATH and get_home_path() are the document root in a request for %s',
  async (path) => {
    await site.http('shop.test', path, { headers: { cookie: 'wordpress_logged_in_x=1' } });
    expect(await readFile(site.file(shop, 'wp-content/roots.txt'), 'utf8')).toBe('the document root\n');
    await rm(site.file(shop, 'wp-content/roots.txt'));
  },
);

test('a plugin writes files of the document root, which visitors get, and none of WordPress', async () => {
  const before = await readFile(site.file(shop, 'wp-config.php'), 'utf8');
  const wrote = await site.http('shop.test', '/?writes', { headers: { cookie: 'wordpress_logged_in_x=1' } });
  expect(JSON.parse(wrote.text)).toEqual([false, false]);
  expect(await readFile(site.file(shop, 'wp-config.php'), 'utf8')).toBe(
    before.replace('<?php\n', "<?php\ndefine('WP_CACHE', false);\n"),
  );
  site.clock.advance(MINUTE_MS);
  expect(await site.http('shop.test', '/robots.txt')).toMatchObject({ status: 200, text: 'of the plugin\n' });
  expect((await site.http('shop.test', '/')).status).toBe(200);
});

test('a network (multisite) is refused in wp-admin', async () => {
  const config = await readFile(site.file(shop, 'wp-config.php'), 'utf8');
  await site.write(
    shop,
    'wp-config.php',
    config.replace("/* That's all", "define('WP_ALLOW_MULTISITE', true);\n\n/* That's all"),
  );
  const entered = await site.http('shop.test', '/?enter', { headers: { cookie: 'wordpress_logged_in_x=1' } });
  const cookie = [entered.headers['set-cookie'] ?? []]
    .flat()
    .map((line) => line.split(';')[0])
    .join('; ');
  const page = await signedIn('/wp-admin/network.php', cookie);
  expect(page.text).toContain('This host does not run WordPress networks (multisite). Nothing was changed.');
  expect(page.status).toBe(403);
  expect((await signedIn('/wp-admin/options-general.php', cookie)).status).toBe(200);
});

async function wp(...args: string[]) {
  const outcome = await site.host.runWpCli(shop, args);
  if ('refused' in outcome) throw new Error(outcome.reason);
  return outcome;
}

test('WP-CLI has the same ABSPATH, and sets values in wp-config.php', async () => {
  expect(
    await wp('eval', 'echo realpath(ABSPATH) === realpath(dirname(WP_CONTENT_DIR)) ? "same" : ABSPATH;'),
  ).toMatchObject({
    stdout: 'same',
    exitStatus: 0,
  });
  expect(await wp('config', 'set', 'WP_POST_REVISIONS', '7', '--raw')).toMatchObject({ exitStatus: 0 });
  expect(await readFile(site.file(shop, 'wp-config.php'), 'utf8')).toContain(
    "define( 'WP_POST_REVISIONS', 7 );\n/* That's all",
  );
});

test.each([
  ['multisite-convert'],
  ['multisite-install', '--title=Shops', '--admin_email=a@shop.test', '--admin_user=a', '--skip-email'],
])('a network is refused by `wp core %s` before anything changes', async (...words) => {
  const before = await readFile(site.file(shop, 'wp-config.php'), 'utf8');
  const { exitStatus, stderr } = await wp('core', ...words);
  expect(stderr).toContain(
    'Error: This host does not run WordPress networks (multisite). Nothing was changed.',
  );
  expect(exitStatus).toBe(1);
  expect(await readFile(site.file(shop, 'wp-config.php'), 'utf8')).toBe(before);
  expect((await wp('db', 'tables', '--all-tables')).stdout).not.toContain('wp_blogs');
});
