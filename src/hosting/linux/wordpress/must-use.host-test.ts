import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { FULL_WRITE_BYTES } from '../isolation/measured-quotas.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import { findSandboxed } from '../isolation/write-limit.ts';
import type { Pages } from '../purges/purge-message.ts';
import { createPurgeSockets, type PurgeSockets } from '../purges/purge-sockets.ts';
import {
  runInWordPress,
  startWordPress,
  startWordPressMachine,
  visit,
  type WordPressMachine,
} from './machine.fixture.ts';

let machine: WordPressMachine;
let install: SandboxedInstall;

beforeAll(async () => {
  machine = await startWordPressMachine();
  machine.layout.limits = { bytes: 2 ** 30, files: null };
  const { websites, version } = await startWordPress(machine);
  const made = await machine.newInstall(version);
  install = made.install;
  const site = { primaryHostname: 'shop.test', secure: false, database: made.database };
  await websites.makeFiles(install, site);
  await websites.fillDatabase(install, made.database, { ...site, title: 'The shop' });
  await machine.serve(install);
});
afterAll(() => machine.stop());

/** Notes the headers that go out, and does what a plugin may do. */
const PLUGIN = `<?php
header_register_callback(fn() => file_put_contents(WP_CONTENT_DIR . '/headers.json', json_encode(headers_list())));
$does = [
  'after' => fn() => add_action('shutdown', function () { echo 'and then some'; }, 5),
  'last' => fn() => register_shutdown_function(function () { echo 'and then some'; }),
  'parts' => fn() => add_action('template_redirect', function () { echo 'one'; ob_flush(); flush(); echo 'two'; exit; }),
  'ends' => fn() => add_action('template_redirect', function () { echo 'one'; while (ob_get_level()) ob_end_flush(); echo 'two'; exit; }),
  'drops' => fn() => add_action('template_redirect', function () { echo 'one'; while (ob_get_level()) ob_end_clean(); echo 'two'; exit; }),
  'own' => fn() => add_action('template_redirect', function () { ob_start(fn($page) => "<$page>"); echo 'own'; exit; }),
  'long' => fn() => add_action('template_redirect', function () { for ($i = 0; $i < 6; $i++) echo str_repeat("x", 100000); exit; }),
  'fails' => fn() => add_action('template_redirect', function () { echo 'one'; no_such_function(); }),
  'alone' => fn() => add_action('wp_footer', fn() => define('DONOTCACHEPAGE', true)),
  'away' => fn() => add_action('template_redirect', function () { define('DONOTCACHEPAGE', 1); wp_redirect('/'); exit; }),
  'stores' => fn() => add_action('template_redirect', function () {
    require_once ABSPATH . 'wp-admin/includes/file.php';
    file_put_contents(get_temp_dir() . 'small.txt', 'small');
    $small = ['name' => 'small.txt', 'tmp_name' => get_temp_dir() . 'small.txt', 'size' => 5, 'error' => 0];
    $upload = wp_handle_sideload($small, ['test_form' => false]);
    $package = apply_filters('upgrader_pre_download', false, 'https://example.com/x.zip', null);
    echo json_encode([
      'small' => file_put_contents(WP_CONTENT_DIR . '/small.txt', str_repeat('x', 60000)),
      'large' => @file_put_contents(WP_CONTENT_DIR . '/large.txt', str_repeat('x', 200000)),
      'deleted' => unlink(WP_CONTENT_DIR . '/large.txt'),
      'upload' => $upload['error'] ?? 'stored',
      'package' => is_wp_error($package) ? $package->get_error_message() : 'downloads',
    ]);
    exit;
  }),
  'cached' => fn() => define('DONOTCACHEPAGE', false),
];
$does[$_GET['does'] ?? ''] ?? null and $does[$_GET['does']]();
`;

/** The Content-Length (null: none), whether the page cache may keep the page, and the page. */
async function page(
  path: string,
): Promise<{ told: number | null; isKept: boolean; status: number; body: string }> {
  const htdocs = machine.layout.htdocsOf(install.id);
  await writeFile(join(htdocs, 'wp-content/mu-plugins/does.php'), PLUGIN);
  const headers = join(htdocs, 'wp-content/headers.json');
  await rm(headers, { force: true });
  const { status, body } = await visit(machine, install, path);
  const sent: string = await readFile(headers, 'utf8');
  const told = /"Content-Length: (\d+)"/.exec(sent)?.[1];
  const isKept = !sent.includes('"X-Accel-Expires: 0"');
  return { told: told === undefined ? null : Number(told), isKept, status, body };
}

it('a full website keeps serving, stores no large file, and says why', async () => {
  const free = { small: 60_000, large: 200_000, deleted: true, upload: 'stored', package: 'downloads' };
  expect(JSON.parse((await page('/?does=stores')).body)).toEqual(free);
  await (await findSandboxed()).limitWrites(install, FULL_WRITE_BYTES);
  const reason = expect.stringContaining(
    'Disk quota exceeded: this website may use no more space. Delete files',
  );
  expect(JSON.parse((await page('/?does=stores')).body)).toEqual({
    small: 60_000,
    large: false,
    deleted: true,
    upload: reason,
    package: reason,
  });
  expect((await page('/')).status).toBe(200);
  await (await findSandboxed()).limitWrites(install, null);
  expect(JSON.parse((await page('/?does=stores')).body)).toEqual(free);
});

it.each(['/', '/sample-page/', '/feed/', '/?does=own'])('%s has a Content-Length', async (path) => {
  const { told, status, body } = await page(path);
  expect(status).toBe(200);
  expect(told).toBe(Buffer.byteLength(body));
});

it.each([
  ['alone', false],
  ['away', false],
  ['cached', true],
  ['none', true],
])('the page cache obeys DONOTCACHEPAGE, even late: %s', async (how, isKept) => {
  expect((await page(`/?does=${how}`)).isKept).toBe(isKept);
});

it.each(['after', 'last'])('what comes later than the page is part of it: %s', async (when) => {
  const { told, body } = await page(`/?does=${when}`);
  expect(body).toMatch(/<\/html>\s*and then some$/);
  expect(told === null || told === Buffer.byteLength(body)).toBe(true);
});

it.each([
  ['parts', /^onetwo$/],
  ['ends', /^onetwo$/],
  ['drops', /^two$/],
  ['long', /^x{600000}$/],
] as const)('a page sent in parts has none: %s', async (how, expected) => {
  const { told, body } = await page(`/?does=${how}`);
  expect(body).toMatch(expected);
  expect(told).toBe(null);
});

it('errors, missing pages and the administration have none', async () => {
  expect(await page('/?does=fails')).toMatchObject({ told: null, status: 500 });
  expect(await page('/no-such-page/')).toMatchObject({ told: null, status: 404 });
  expect(await page('/wp-admin/admin-ajax.php')).toMatchObject({ told: null });
});

describe('a change', () => {
  const asked: Pages[] = [];
  let sockets: PurgeSockets;
  beforeAll(async () => {
    sockets = createPurgeSockets({
      layout: machine.layout,
      queue: { ask: async (_, pages) => void asked.push(pages), forget: () => {} },
      clock: systemClock,
      log: machine.log,
    });
    await sockets.open(install);
  });
  afterAll(() => sockets?.stop());

  /** The pages that each step of PHP purges. Every message has a path of its own, so that steps without a purge are seen. */
  async function purgedBy(...steps: string[]): Promise<Pages[]> {
    asked.length = 0;
    const sent = steps.map((step) => `${step};\nHomeport_Purge::add('/step/'); Homeport_Purge::send();`);
    await runInWordPress(machine, install, `wp_set_current_user(1);\n${sent.join('\n')}`);
    expect(asked).toHaveLength(steps.length);
    return asked.map((pages) => (pages === 'everything' ? pages : pages.filter((path) => path !== '/step/')));
  }

  it('of a post purges the post, its lists, feeds, sitemap and REST, also at its former address', async () => {
    const [draft, published, renamed, trashed, deleted] = await purgedBy(
      `$id = wp_insert_post(['post_title' => 'News', 'post_status' => 'draft', 'post_content' => 'a<!--nextpage-->b'])`,
      `wp_set_post_terms($id, ['fresh'], 'post_tag'); wp_update_post(['ID' => $id, 'post_status' => 'publish', 'edit_date' => true, 'post_date' => '2024-03-02 01:00:00'])`,
      `wp_update_post(['ID' => $id, 'post_name' => 'olds'])`,
      `wp_trash_post($id)`,
      `wp_delete_post($id, true)`,
    );
    expect(draft).toEqual([]);
    const lists = [
      '/',
      '/page/2/',
      '/category/uncategorized/',
      '/tag/fresh/',
      '/author/admin/',
      '/2024/03/',
      '/feed/',
    ];
    const machine = ['/wp-sitemap.xml', '/wp-sitemap-posts-post-1.xml', '/wp-json/wp/v2/posts'];
    expect(published).toEqual(
      expect.arrayContaining(['/news/', '/news/2/', '/news/feed/', ...lists, ...machine]),
    );
    expect(published?.length).toBeLessThan(60);
    expect(renamed).toEqual(expect.arrayContaining(['/news/', '/olds/', ...lists]));
    expect(trashed).toEqual(expect.arrayContaining(['/olds/', ...lists]));
    expect(deleted).toEqual([]);
  });

  it('of terms purges the archives that a post enters and leaves', async () => {
    const [, , changed] = await purgedBy(
      `$cats = array_map(fn($name) => wp_insert_term($name, 'category')['term_id'], ['One', 'Two'])`,
      `$id = wp_insert_post(['post_title' => 'Moves', 'post_status' => 'publish', 'post_category' => [$cats[0]]])`,
      `wp_set_post_categories($id, [$cats[1]])`,
    );
    expect(changed).toEqual(expect.arrayContaining(['/category/one/', '/category/two/', '/moves/', '/']));
  });

  it('of a comment counts once visitors see it', async () => {
    const [, waiting, approved, spam] = await purgedBy(
      `$id = wp_insert_post(['post_title' => 'Talk', 'post_status' => 'publish'])`,
      `$comment = wp_insert_comment(['comment_post_ID' => $id, 'comment_content' => 'x', 'comment_approved' => 0])`,
      `wp_set_comment_status($comment, 'approve')`,
      `wp_spam_comment($comment)`,
    );
    expect(waiting).toEqual([]);
    expect(approved).toEqual(expect.arrayContaining(['/talk/', '/talk/feed/', '/comments/feed/']));
    expect(spam).toEqual(expect.arrayContaining(['/talk/']));
  });

  it('that no visitor sees purges nothing', async () => {
    const purged = await purgedBy(
      `set_transient('x', 'y', 60); update_option('cron', _get_cron_array()); update_option('plugin_counter', rand())`,
      `wp_insert_user(['user_login' => 'customer', 'user_pass' => 'x', 'user_email' => 'c@shop.test'])`,
      `wp_update_user(['ID' => get_user_by('login', 'customer')->ID, 'display_name' => 'Other'])`,
      `wp_insert_post(['post_type' => 'revision', 'post_status' => 'inherit', 'post_parent' => 1, 'post_title' => 'r'])`,
      `update_post_meta(1, '_edit_lock', time() . ':1')`,
    );
    expect(purged).toEqual(purged.map(() => []));
  });

  it('of the theme, a menu, a widget, a setting or many posts purges everything', async () => {
    const purged = await purgedBy(
      `switch_theme('twentytwentyone')`,
      `$menu = wp_create_nav_menu('Main'); wp_update_nav_menu_item($menu, 0, ['menu-item-title' => 'x', 'menu-item-url' => '/', 'menu-item-status' => 'publish'])`,
      `update_option('widget_text', ['_multiwidget' => 1, 2 => ['text' => 'x']])`,
      `update_option('blogname', 'Other name')`,
      `wp_insert_post(['post_type' => 'page', 'post_title' => 'In the menu', 'post_status' => 'publish'])`,
      `foreach (range(1, 25) as $n) wp_insert_post(['post_title' => "Many $n", 'post_status' => 'publish'])`,
    );
    expect(purged).toEqual(purged.map(() => 'everything'));
  });

  it('of a price purges the product of a variation, whoever changes it', async () => {
    const [, , ...changes] = await purgedBy(
      `register_post_type('product', ['public' => true]); register_post_type('product_variation', ['public' => false])`,
      `wp_set_current_user(0);
       $product = wp_insert_post(['post_type' => 'product', 'post_title' => 'Hat', 'post_status' => 'publish']);
       $variation = wp_insert_post(['post_type' => 'product_variation', 'post_parent' => $product, 'post_status' => 'publish'])`,
      `update_post_meta($variation, '_stock', '3')`,
      `do_action('woocommerce_product_set_stock', new class($product) {
         public function __construct(private $id) {}
         public function get_id() { return $this->id; }
       })`,
      `do_action('woocommerce_update_product', $product)`,
    );
    for (const pages of changes) expect(pages).toEqual(expect.arrayContaining(['/product/hat/', '/']));
  });

  it('that a plugin announces as to Nginx Helper or Varnish is a purge, and nothing leaves the machine', async () => {
    const [all, method, regex, helper, other] = await purgedBy(
      `do_action('rt_nginx_helper_purge_all')`,
      `$answer = wp_remote_request(home_url('/a/b/?c=d'), ['method' => 'PURGE'])`,
      `wp_remote_request(home_url('/.*'), ['method' => 'PURGE', 'headers' => ['X-Purge-Method' => 'regex']])`,
      `define('NGINX_HELPER_BASEPATH', '/x'); wp_remote_get(home_url('/purge/hello-world/'))`,
      `add_filter('pre_http_request', fn($answer) => $answer ?: new WP_Error('away'), 20);
       wp_remote_request('http://other.test/a/', ['method' => 'PURGE'])`,
    );
    expect([all, method, regex, helper, other]).toEqual([
      'everything',
      ['/a/b/'],
      'everything',
      ['/hello-world/'],
      [],
    ]);
  });

  it('that a plugin makes before WordPress has started purges everything, and breaks nothing', async () => {
    asked.length = 0;
    // Loaded after the host's own.
    const early = join(machine.layout.htdocsOf(install.id), 'wp-content/mu-plugins/later.php');
    const code = 'update_post_meta(1, "counter", uniqid()); update_post_meta(1, "_price", uniqid());';
    await writeFile(early, `<?php ${code} exit("early end");`);
    const { body } = await visit(machine, install, '/');
    await rm(early);
    expect(body).toBe('early end');
    expect(asked).toEqual(['everything']);
  });

  it('is sent once at the end of a request, and does no harm if the host is away', async () => {
    asked.length = 0;
    const code = `
      $id = wp_insert_post(['post_title' => 'Once', 'post_status' => 'publish']);
      wp_update_post(['ID' => $id, 'post_content' => 'more']);
      set_error_handler(function ($code, $text) { echo $text; });`;
    expect(await runInWordPress(machine, install, code)).toBe('');
    expect(asked).toEqual([expect.arrayContaining(['/once/', '/'])]);
    await sockets.close(install.id);
    expect(await runInWordPress(machine, install, code)).toBe('');
    await rm(machine.layout.purgeSocketOf(install.id), { force: true });
    expect(await runInWordPress(machine, install, code)).toBe('');
    await sockets.open(install);
    expect(asked).toHaveLength(1);
  });
});
