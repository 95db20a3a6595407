import { lchown, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { InstallRef } from '../../src/hosting/contract/install-ref.ts';
import { createDatabases } from '../../src/hosting/linux/daemons/databases.ts';
import type { LinuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { runCommand } from '../../src/lib/run-command.ts';

/** The plugin of {@link installPlugin}, as WordPress names it. */
export const PLUGIN = 'shop/shop.php';

/** The plugin's file. Each page shows its version in the footer. */
export const pluginFile = (version: string, code = '') => `<?php
/*
Plugin Name: Shop
Version: ${version}
*/
add_action('wp_footer', static fn() => print('<p>shop ${version}</p>'));
${code}
`;

/** Stands in for wordpress.org, which tests cannot reach: offers the plugin in `private/packages`. */
const SOURCE = `<?php
/* Plugin Name: Plugins of the agency */
add_filter('pre_http_request', static function ($answer, $options, $url) {
    if (!str_contains($url, 'api.wordpress.org')) {
        return $answer;
    }
    $offer = json_decode(file_get_contents(HOMEPORT['root'] . '/../private/packages/offer.json'), true);
    $found = str_contains($url, '/plugins/') ? $offer : [];
    return ['headers' => [], 'cookies' => [], 'response' => ['code' => 200, 'message' => 'OK'],
        'body' => json_encode(['plugins' => $found, 'themes' => [], 'no_update' => [], 'translations' => []])];
}, 10, 3);
`;

/** Files of a website, written as its customer. */
export interface CustomerFiles {
  /** Below the document root. */
  write(path: string, content: string): Promise<void>;
  /** Offers version 1.1 of the plugin with this code. `packed`: the version in the package. */
  offer(code: string, packed?: string): Promise<void>;
}

/** Activates version 1.0 of a plugin on a website, whose updates come from the website's own files. */
export async function installPlugin(
  layout: LinuxLayout,
  { id }: Pick<InstallRef, 'id'>,
): Promise<CustomerFiles> {
  const htdocs = layout.htdocsOf(id);
  const { uid, gid } = await stat(htdocs);

  async function own(folder: string, path: string, content: string): Promise<void> {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    for (let place = file; place !== folder; place = dirname(place)) await lchown(place, uid, gid);
  }

  const write = (path: string, content: string) => own(htdocs, path, content);
  await write('wp-content/mu-plugins/source.php', SOURCE);
  await write(`wp-content/plugins/${PLUGIN}`, pluginFile('1.0'));
  await createDatabases({ layout }).query(
    `hp_${id.replaceAll('-', '')}`,
    `UPDATE wp_options SET option_value = 'a:1:{i:0;s:13:"shop/shop.php";}' WHERE option_name = 'active_plugins'`,
  );
  return {
    write,
    async offer(code, packed = '1.1') {
      const hidden = layout.privateOf(id);
      const folder = join(hidden, 'packages');
      await rm(folder, { recursive: true, force: true });
      await own(hidden, 'packages/shop/shop.php', pluginFile(packed, code));
      await runCommand('python3', ['-m', 'zipfile', '-c', 'shop.zip', 'shop/'], { folder });
      const offered = { slug: 'shop', plugin: PLUGIN, new_version: '1.1', package: join(folder, 'shop.zip') };
      await own(hidden, 'packages/offer.json', JSON.stringify({ [PLUGIN]: offered }));
    },
  };
}
