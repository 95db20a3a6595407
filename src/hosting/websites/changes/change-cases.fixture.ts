import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { steps } from '../../../../test/rounds.ts';
import type { ItemChange, ItemOutcome } from '../../contract/wordpress-changes.ts';
import { type ChangedWebsite, checkpointOf, expectFormer, homePage } from './changed-website.fixture.ts';
import { PLUGIN } from './plugin-source.fixture.ts';

/** In the script that changes plugins, and in no page. */
const IN_SCRIPT = `basename($_SERVER['argv'][0] ?? '') === 'change-item.php'`;

const PLUGINS: Readonly<Record<string, string>> = {
  good: `add_action('wp_footer', static fn() => print('<p>good plugin</p>'));`,
  front: `add_action('template_redirect', static fn() => throw new Error('broken in front'));`,
  tidy: `if (is_admin()) {
    register_deactivation_hook(__FILE__, static fn() => update_option('tidy', 'left'));
    add_action('admin_init', static function () {
      if (!current_user_can('manage_options')) wp_die('Who are you?');
      register_deactivation_hook(__FILE__, static fn() => update_option('tidier', 'left'));
    });
  }`,
  turns: `register_deactivation_hook(__FILE__, static fn() => update_option('turns', 'left'));
  add_action('admin_init', static function () {
    // As many do once, after an update.
    if (${IN_SCRIPT}) exit(wp_safe_redirect(admin_url('index.php')));
  });`,
  throws: `register_deactivation_hook(__FILE__, static fn() => update_option('throws', 'left'));
  add_action('admin_init', static function () {
    if (${IN_SCRIPT}) throw new TypeError('Only in a browser.');
  });`,
};

/** Changes of single plugins. They leave the website as it was. */
export function testItemChanges(website: () => ChangedWebsite): void {
  /** One is enough: no case changes what another one needs restored. */
  let checkpointId: string;

  function change(wanted: Partial<ItemChange>, changeId: string = randomUUID()): Promise<ItemOutcome> {
    const { host, install } = website();
    const unchanged = { kind: 'plugin', id: null, source: null, status: null, autoUpdate: null } as const;
    return host.changeItem(install, {
      ...{ changeId, checkpointId, pages: [] },
      change: { ...unchanged, ...wanted },
    });
  }

  describe('changes of plugins', () => {
    beforeAll(async () => {
      const { files } = website();
      for (const [name, code] of Object.entries(PLUGINS)) {
        const text = `<?php\n/*\nPlugin Name: ${name}\nVersion: 2.0\n*/\n${code}\n`;
        await files.write(`wp-content/plugins/${name}/${name}.php`, text);
      }
      await files.write(
        'wp-content/plugins/good/uninstall.php',
        "<?php update_option('uninstalled', 'yes');",
      );
      checkpointId = await checkpointOf(website());
    });

    test('a plugin that breaks a page is rolled back to the checkpoint', async () => {
      expect(await change({ id: 'front', status: 'active' })).toEqual({
        rolledBack: expect.stringMatching(
          /^the home page answers 500, and 200 before: .*broken in front in wp-content\/plugins\/front\/front\.php:\d+$/,
        ),
      });
      await expectFormer(website(), PLUGIN);
    });

    test('a plugin that registers its deactivation only in wp-admin is deactivated as there', async () => {
      const names = steps(['turns', 'tidy'], ['throws', 'turns', 'tidy']);
      await website().activate([PLUGIN, ...names.map((name) => `${name}/${name}.php`)]);
      for (const name of names) {
        expect(await change({ id: name, status: 'inactive' })).toMatchObject({
          changed: { id: `${name}/${name}.php` },
        });
      }
      const left = ['tidier', ...names];
      expect(await Promise.all(left.map(website().option))).toEqual(left.map(() => 'left'));
      await expectFormer(website(), PLUGIN);
    });

    test('activates, deactivates and deletes a plugin, whose code to uninstall runs', async () => {
      const { option, read } = website();
      const id = 'good/good.php';
      const changed = { changed: { id, name: 'good', version: '2.0' } };
      const changeId = randomUUID();
      const activation = { id: 'good', status: 'active', autoUpdate: true } as const;
      expect(await change(activation, changeId)).toEqual(changed);
      // The same order does nothing again.
      expect(await change(activation, changeId)).toEqual(changed);
      expect((await homePage(website())).body).toContain('<p>good plugin</p>');
      expect(await option('auto_update_plugins')).toBe(`a:1:{i:0;s:${id.length}:"${id}";}`);
      expect(await change({ id: 'good', status: 'inactive' })).toEqual(changed);
      expect((await homePage(website())).body).not.toContain('<p>good plugin</p>');
      expect(await change({ id: 'good', status: 'deleted' })).toEqual(changed);
      expect([await read('plugins/good/good.php'), await option('uninstalled')]).toEqual([null, 'yes']);
      expect(await option('auto_update_plugins')).toBe('a:0:{}');
    });

    test('refuses what always runs and what is active', async () => {
      const refused = async (wanted: Partial<ItemChange>) => {
        const outcome = await change(wanted);
        return 'refused' in outcome ? outcome.refused : outcome;
      };
      expect(await refused({ id: 'source.php', status: 'inactive' })).toContain('is a must-use plugin');
      expect(await refused({ id: PLUGIN, status: 'deleted' })).toContain('is active');
      await expectFormer(website(), PLUGIN);
    });
  });
}
