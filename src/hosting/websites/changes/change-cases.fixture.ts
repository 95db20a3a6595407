import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { onlyInLong } from '../../../../test/rounds.ts';
import type { ItemChange, ItemOutcome } from '../../contract/wordpress-changes.ts';
import { type ChangedWebsite, checkpointOf, expectFormer, homePage } from './changed-website.fixture.ts';
import { PLUGIN } from './plugin-source.fixture.ts';

const PLUGINS: Readonly<Record<string, string>> = {
  // Registers its deactivation only in wp-admin.
  good: `add_action('wp_footer', static fn() => print('<p>good plugin</p>'));
  if (is_admin()) {
    register_deactivation_hook(__FILE__, static fn() => update_option('tidy', 'left'));
    add_action('admin_init', static function () {
      if (!current_user_can('manage_options')) wp_die('Who are you?');
      register_deactivation_hook(__FILE__, static fn() => update_option('tidier', 'left'));
    });
  }`,
  front: `add_action('template_redirect', static fn() => throw new Error('broken in front'));`,
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

    onlyInLong(test)('a plugin that breaks a page is rolled back to the checkpoint', async () => {
      expect(await change({ id: 'front', status: 'active' })).toEqual({
        rolledBack: expect.stringMatching(
          /^the home page answers 500, and 200 before: .*broken in front in wp-content\/plugins\/front\/front\.php:\d+$/,
        ),
      });
      await expectFormer(website(), PLUGIN);
    });

    const id = 'good/good.php';
    const changed = { changed: { id, name: 'good', version: '2.0' } };

    test('activates and deactivates a plugin, whose code for each runs as in wp-admin', async () => {
      const { option } = website();
      const changeId = randomUUID();
      const activation = { id: 'good', status: 'active', autoUpdate: true } as const;
      expect(await change(activation, changeId)).toEqual(changed);
      // The same order does nothing again.
      expect(await change(activation, changeId)).toEqual(changed);
      expect((await homePage(website())).body).toContain('<p>good plugin</p>');
      expect(await option('auto_update_plugins')).toBe(`a:1:{i:0;s:${id.length}:"${id}";}`);
      expect(await change({ id: 'good', status: 'inactive' })).toEqual(changed);
      expect([await option('tidy'), await option('tidier')]).toEqual(['left', 'left']);
      expect((await homePage(website())).body).not.toContain('<p>good plugin</p>');
    });

    onlyInLong(test)('deletes a plugin with what it stored', async () => {
      const { option, read } = website();
      expect(await change({ id: 'good', status: 'deleted' })).toEqual(changed);
      expect([await read('plugins/good/good.php'), await option('uninstalled')]).toEqual([null, 'yes']);
      expect(await option('auto_update_plugins')).toBe('a:0:{}');
    });
  });
}
