import { lchown, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { storedZip } from './stored-zip.fixture.ts';

/** The plugin of {@link putPlugin}, as WordPress names it. */
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
    $offer = json_decode(file_get_contents(dirname(HOMEPORT['root']) . '/private/packages/offer.json'), true);
    $found = str_contains($url, '/plugins/') ? $offer : [];
    return ['headers' => [], 'cookies' => [], 'response' => ['code' => 200, 'message' => 'OK'],
        'body' => json_encode(['plugins' => $found, 'themes' => [], 'no_update' => [], 'translations' => []])];
}, 10, 3);
`;

/** The folders of a website. */
export interface CustomerFolders {
  root: string;
  private: string;
  /** The private folder as PHP sees it. */
  seenPrivate: string;
}

/** Files of a website, written as its customer. */
export interface CustomerFiles {
  /** Below the document root. */
  write(path: string, content: string): Promise<void>;
  /** Packs files below the private folder: `packages/shop.zip`. */
  pack(path: string, files: Readonly<Record<string, string>>): Promise<void>;
  /**
   * Offers version 1.1 of the plugin with this code. `packed`: the version in the package. `lost`: other plugins, as WordPress names them,
   * whose package is missing.
   */
  offer(code: string, packed?: string, lost?: readonly string[]): Promise<void>;
}

/** Puts version 1.0 of a plugin into a website, whose updates come from the website's own files. */
export async function putPlugin(folders: CustomerFolders): Promise<CustomerFiles> {
  const { uid, gid } = await stat(folders.root);

  async function own(folder: string, path: string, content: string | Buffer): Promise<void> {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    for (let place = file; place !== folder; place = dirname(place)) await lchown(place, uid, gid);
  }

  const write = (path: string, content: string) => own(folders.root, path, content);
  await write('wp-content/mu-plugins/source.php', SOURCE);
  await write(`wp-content/plugins/${PLUGIN}`, pluginFile('1.0'));
  const pack: CustomerFiles['pack'] = (path, files) => own(folders.private, path, storedZip(files));
  return {
    write,
    pack,
    async offer(code, packed = '1.1', lost = []) {
      await pack('packages/shop.zip', { [PLUGIN]: pluginFile(packed, code) });
      const offerOf = (plugin: string, zip: string) => {
        const from = join(folders.seenPrivate, 'packages', zip);
        return [plugin, { slug: dirname(plugin), plugin, new_version: '1.1', package: from }];
      };
      const offers = [offerOf(PLUGIN, 'shop.zip'), ...lost.map((plugin) => offerOf(plugin, 'lost.zip'))];
      await own(folders.private, 'packages/offer.json', JSON.stringify(Object.fromEntries(offers)));
    },
  };
}
