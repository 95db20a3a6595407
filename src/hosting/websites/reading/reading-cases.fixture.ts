import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cases, onlyInLong } from '../../../../test/rounds.ts';
import { COMMANDS } from '../../contract/commands.ts';
import type { WordPressReading } from '../../contract/wordpress.ts';
import { type OperatedWebsite, putContent } from '../operated-website.fixture.ts';
import { readWebsite } from './read-website.ts';
import { wordpressMark } from './wordpress-mark.ts';

/** Answers of a server that replaces api.wordpress.org. */
const ANSWERS: Record<string, object> = {
  '/core/version-check/1.7/': {
    offers: [
      { response: 'upgrade', current: '99.1', version: '99.1', packages: {} },
      { response: 'autoupdate', current: '99.0.1', version: '99.0.1', packages: {} },
    ],
    translations: [],
  },
  '/plugins/update-check/1.1/': {
    plugins: { 'shop/shop.php': { plugin: 'shop/shop.php', slug: 'shop', new_version: '1.10' } },
    no_update: {},
    translations: [],
  },
  '/themes/update-check/1.1/': {
    themes: { own: { theme: 'own', new_version: '2.0' } },
    no_update: {},
    translations: [],
  },
};

/** The next case needs it. */
const FEW_MARKS = ['an administrator is added'];

/**
 * Cases of reading WordPress that every runtime must pass. `start` provides a new website, whose PHP may connect to 127.0.0.1. `further` adds
 * cases of other operations.
 */
export function readingCases(
  start: () => Promise<OperatedWebsite>,
  further: (website: () => OperatedWebsite) => void,
): void {
  let website: OperatedWebsite;
  let source: Server;
  let updateSource: string;
  /** Whether the source of updates answers. */
  let isUp = true;
  let asked: string[] = [];

  beforeAll(async () => {
    source = createServer((request, response) => {
      const path = request.url?.split('?')[0] ?? '';
      asked.push(path);
      request.resume();
      const answer = ANSWERS[path];
      response.writeHead(isUp && answer !== undefined ? 200 : 503, { 'content-type': 'application/json' });
      response.end(isUp ? JSON.stringify(answer ?? {}) : 'down');
    });
    await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
    const address = source.address();
    updateSource = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    website = await start();
    await put('plugins/shop/shop.php', '<?php\n/* Plugin Name: Shop\u001b[31m\n * Version: 1.9 */');
    await put('plugins/single.php', '<?php /* Plugin Name: Single */');
    await put('plugins/no-plugin/readme.php', '<?php // nothing');
    await put('themes/own/style.css', '/* Theme Name: Own\nVersion: 1.0\nTemplate: twentytwentythree */');
  });
  afterAll(async () => {
    source?.close();
    await website?.stop();
  });

  const put = (path: string, text: string) => putContent(website, path, text);
  const content = (path: string) => join(website.root, 'wp-content', path);
  const readAll = (check: boolean) => {
    asked = [];
    return readWebsite(website, { check, updateSource, log: pino({ level: 'silent' }) });
  };

  async function read(check = false): Promise<WordPressReading> {
    const reading = await readAll(check);
    expect(COMMANDS.readWordPress.parseResult(reading)).toEqual(reading);
    if ('refused' in reading) throw new Error(reading.reason);
    return reading;
  }

  const inWordPress = (code: string) => website.inWordPress(code);
  const activate = (...files: string[]) =>
    inWordPress(`update_option('active_plugins', json_decode('${JSON.stringify(files)}', true));`);
  const updateOf = ({ plugins }: WordPressReading, file: string) =>
    plugins.find((plugin) => plugin.file === file)?.update?.version;
  const CHECKED = { core: null, plugins: null, themes: null };

  describe('a website', () => {
    it('is read without being changed, and asks for updates if it never did', async () => {
      const reading = await read();
      expect(asked.sort()).toEqual(Object.keys(ANSWERS).sort());
      expect(reading).toMatchObject({
        core: { version: website.version, update: { version: '99.1' } },
        multisite: false,
        isComplete: true,
        updateCheck: CHECKED,
      });
      expect(reading.plugins).toEqual(
        expect.arrayContaining([
          {
            file: 'shop/shop.php',
            name: 'Shop [31m',
            version: '1.9',
            status: 'inactive',
            update: { version: '1.10' },
            autoUpdate: false,
          },
          expect.objectContaining({ file: 'single.php', name: 'Single', version: null, update: null }),
          expect.objectContaining({ file: 'homeport.php', status: 'must_use' }),
          expect.objectContaining({ file: website.dropin, status: 'dropin' }),
        ]),
      );
      expect(reading.plugins.map(({ file }) => file)).not.toContain('no-plugin/readme.php');
      expect(reading.themes).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            stylesheet: 'own',
            version: '1.0',
            status: 'inactive',
            parent: 'twentytwentythree',
            bundled: false,
            update: { version: '2.0' },
          }),
          expect.objectContaining({ status: 'active', bundled: website.hasLinkedThemes, update: null }),
        ]),
      );
      expect(reading.administrators).toEqual([
        {
          login: 'admin',
          email: 'admin@shop.test',
          displayName: 'admin',
          registeredAt: expect.stringMatching(/^20.*Z$/),
        },
      ]);
      expect(reading.siteHealth?.good).toBeGreaterThan(3);
      expect(reading.siteHealth?.issues.map(({ label }) => label)).not.toContain('');
    });

    onlyInLong(it)('does not ask again without a check', async () => {
      const reading = await read();
      expect(asked).toEqual([]);
      expect(reading).toMatchObject({
        updateCheck: null,
        siteHealth: null,
        core: { update: { version: '99.1' } },
      });
      expect(updateOf(reading, 'shop/shop.php')).toBe('1.10');
    });

    onlyInLong(it)(
      'keeps the known updates if the source does not answer, and asks again at the next check',
      async () => {
        isUp = false;
        // WordPress asks again after a minute.
        await inWordPress(`foreach (['core', 'plugins', 'themes'] as $kind) {
      remove_all_filters('pre_site_transient_update_core');
      $known = get_site_transient("update_$kind");
      $known->last_checked -= 120;
      set_site_transient("update_$kind", $known);
    }`);
        const down = await read(true);
        expect(down.updateCheck).toEqual({ core: 'status 503', plugins: 'status 503', themes: 'status 503' });
        expect(down.core.update).toEqual({ version: '99.1' });
        expect(updateOf(down, 'shop/shop.php')).toBe('1.10');
        isUp = true;
        expect((await read(true)).updateCheck).toEqual(CHECKED);
        expect(asked).toHaveLength(3);
      },
    );

    it('offers no update once it is installed', async () => {
      await put('plugins/shop/shop.php', '<?php /* Plugin Name: Shop\nVersion: 1.10 */');
      expect(updateOf(await read(), 'shop/shop.php')).toBeUndefined();
    });
  });

  describe('plugins', () => {
    onlyInLong(it)('may print, and show updates from elsewhere', async () => {
      await put(
        'plugins/prints.php',
        `<?php /* Plugin Name: Prints */ echo str_repeat('{"core":1}\\n', 100000); if (defined("STDOUT")) fwrite(STDOUT, "homeport:{}\\n");`,
      );
      await put(
        'plugins/paid/paid.php',
        `<?php /* Plugin Name: Paid\nVersion: 1.0 */
      add_filter('site_transient_update_plugins', function ($known) {
        if (!is_object($known)) return $known;
        $known->response['paid/paid.php'] = (object) ['new_version' => '3.0'];
        unset($known->response['shop/shop.php']);
        return $known;
      });
      add_filter('site_status_tests', fn($tests) => ['direct' => $tests['direct'] + ['paid' => ['label' => 'x', 'test' => fn() => no_such_function()]]] + $tests);`,
      );
      await activate('prints.php', 'paid/paid.php');
      const reading = await read(true);
      expect(updateOf(reading, 'paid/paid.php')).toBe('3.0');
      expect(reading.siteHealth?.good).toBeGreaterThan(3);
      expect(reading.plugins.find(({ file }) => file === 'prints.php')?.status).toBe('active');
    });

    it('may fail, and the drop-in of the object cache too', async () => {
      await put(
        'plugins/fatal/fatal.php',
        '<?php /* Plugin Name: Fatal */ if (!defined("NOT_YET")) no_such_function();',
      );
      await inWordPress(
        `update_option('active_plugins', ['fatal/fatal.php', 'paid/paid.php']); wp_cache_flush();`,
      );
      const reading = await read(true);
      expect(reading.plugins.find(({ file }) => file === 'fatal/fatal.php')?.status).toBe('active');
      expect(reading.updateCheck).toEqual(CHECKED);
      expect(reading.core.update).toEqual({ version: '99.1' });

      const dropin = content('object-cache.php');
      const isOwn = website.dropin === 'object-cache.php';
      if (isOwn) await rename(dropin, `${dropin}.off`);
      await writeFile(dropin, '<?php no_such_function();');
      expect((await read()).plugins.map(({ file }) => file)).toContain('fatal/fatal.php');
      if (isOwn) await rename(`${dropin}.off`, dropin);
      else await rm(dropin);
      await rm(content('plugins/fatal'), { recursive: true });
    });
  });

  describe('the mark', () => {
    const mark = () => wordpressMark(website.runtime, website.version);

    it.each(
      cases(FEW_MARKS, [
        ['a plugin is activated', `activate_plugin('single.php');`],
        ['a theme is switched', `switch_theme('own');`],
        [
          'an administrator is added',
          `wp_create_user('boss', 'secret'); (new WP_User(0, 'boss'))->set_role('administrator');`,
        ],
        [
          'an administrator gets another address',
          `wp_update_user(['ID' => 1, 'user_email' => 'other@shop.test']);`,
        ],
        ['WordPress is to update a plugin', `update_site_option('auto_update_plugins', ['single.php']);`],
      ]),
    )('changes if %s', async (_what, code) => {
      const before = await mark();
      await inWordPress(`require_once ABSPATH . 'wp-admin/includes/plugin.php'; ${code}`);
      expect(await mark()).not.toBe(before);
    });

    it('changes if a folder of a plugin comes by SFTP, but not with a customer or a reading', async () => {
      const before = await mark();
      await inWordPress(
        `wp_create_user('customer', 'secret', 'c@shop.test'); wp_update_user(['ID' => get_user_by('login', 'customer')->ID, 'display_name' => 'C']);`,
      );
      const { mark: told, administrators } = await read(true);
      expect(await mark()).toBe(before);
      expect(told).toBe(before);
      expect(administrators.map(({ login }) => login)).toEqual(['admin', 'boss']);
      await put('plugins/uploaded/uploaded.php', '<?php /* Plugin Name: Uploaded */');
      expect(await mark()).not.toBe(before);
    });
  });

  onlyInLong(it)('a network of websites has its own administrators and plugins', async () => {
    await inWordPress(`require ABSPATH . 'wp-admin/includes/upgrade.php';
    foreach ($wpdb->tables('ms_global') as $table => $name) $wpdb->$table = $name;
    install_network();
    populate_network(1, 'shop.test:8080', 'me@shop.test', 'Net', '/', false);
    $wpdb->update($wpdb->sitemeta, ['meta_value' => serialize(['customer'])], ['meta_key' => 'site_admins']);
    $wpdb->update($wpdb->sitemeta, ['meta_value' => serialize(['single.php' => 1])], ['meta_key' => 'active_sitewide_plugins']);
    wp_cache_flush();
    $lines = '';
    foreach (['MULTISITE' => true, 'SUBDOMAIN_INSTALL' => false, 'DOMAIN_CURRENT_SITE' => 'shop.test:8080',
      'PATH_CURRENT_SITE' => '/', 'SITE_ID_CURRENT_SITE' => 1, 'BLOG_ID_CURRENT_SITE' => 1] as $name => $value) {
      $lines .= "define('$name', " . var_export($value, true) . ");\n";
    }
    $config = ABSPATH . 'wp-config.php';
    file_put_contents($config, str_replace("define('WP_DEBUG'", $lines . "define('WP_DEBUG'", file_get_contents($config)));`);
    const reading = await read(true);
    expect(reading).toMatchObject({ multisite: true, updateCheck: CHECKED });
    expect(reading.administrators.map(({ login }) => login)).toEqual(['admin', 'boss', 'customer']);
    expect(reading.plugins.find(({ file }) => file === 'single.php')?.status).toBe('network');
  });

  it('a website that does not start is refused with the reason', async () => {
    const config = join(website.root, 'wp-config.php');
    const whole = await readFile(config, 'utf8');
    await writeFile(config, '<?php syntax error');
    expect(await readAll(true)).toMatchObject({
      refused: 'website',
      reason: expect.stringContaining('syntax error'),
      mark: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    await writeFile(config, whole);
  });

  // They share the started website.
  further(() => website);
}
