import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/database.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { compareVersions } from '../policy/wordpress-version.ts';
import { checkCore, copyPlain, newestFirst, themesIn, versionIn } from './core-tree.ts';

let place: { path: string; remove(): void };
beforeEach(() => {
  place = temporaryFolder();
});
afterEach(() => place.remove());

/** Makes files in `root`: a text, or `{ to }` for a link. */
async function tree(files: Record<string, string | { to: string }>): Promise<string> {
  const root = join(place.path, 'root');
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(root, name, '..'), { recursive: true });
    if (typeof content === 'string') await writeFile(join(root, name), content);
    else await symlink(content.to, join(root, name));
  }
  return root;
}

describe('copyPlain', () => {
  const copy = (root: string, instead: Record<string, string> = {}) =>
    copyPlain(join(root, 'share/wordpress'), join(place.path, 'copy'), { root, instead });
  const copied = (name: string) => readFile(join(place.path, 'copy', name), 'utf8');

  it('leaves only folders and files, following links inside the root', async () => {
    const root = await tree({
      'share/wordpress/index.php': 'index',
      'share/wordpress/js/near.js': { to: '../../javascript/near.js' },
      'share/wordpress/js/chain.js': { to: '/alternatives/chain.js' },
      'alternatives/chain.js': { to: '../share/javascript/near.js' },
      'share/wordpress/library': { to: '/share/php/library' },
      'share/php/library': { to: 'library-2' },
      'share/php/library-2/deep/file.php': 'library',
      'share/javascript/near.js': 'near',
    });
    await copy(root);
    expect(await copied('index.php')).toBe('index');
    expect(await copied('js/near.js')).toBe('near');
    expect(await copied('js/chain.js')).toBe('near');
    expect(await copied('library/deep/file.php')).toBe('library');
    const entries = await readdir(join(place.path, 'copy'), { recursive: true, withFileTypes: true });
    expect(entries.every((entry) => entry.isFile() || entry.isDirectory())).toBe(true);
  });

  it('cannot see outside of the root', async () => {
    await writeFile(join(place.path, 'secret'), 'secret');
    for (const to of ['/secret', '../../../secret', `${place.path}/secret`, '/../secret']) {
      const root = await tree({ 'share/wordpress/a': { to } });
      await expect(copy(root), to).rejects.toThrow(/a is a link to .*secret, which is missing/);
      place.remove();
      await mkdir(place.path);
      await writeFile(join(place.path, 'secret'), 'secret');
    }
  });

  it('follows no links without a root', async () => {
    await writeFile(join(place.path, 'secret'), 'secret');
    for (const to of [join(place.path, 'secret'), '../../secret', 'index.php', '/etc']) {
      const root = await tree({ 'index.php': 'index', 'inner/a': { to } });
      await expect(copyPlain(root, join(place.path, 'copy')), to).rejects.toThrow(
        /inner\/a is a link: WordPress has no links/,
      );
      place.remove();
      await mkdir(place.path);
      await writeFile(join(place.path, 'secret'), 'secret');
    }
  });

  it('uses a file of the machine for a missing one', async () => {
    const certificates = join(place.path, 'certificates');
    await writeFile(certificates, 'of the machine');
    const root = await tree({ 'share/wordpress/bundle.crt': { to: '/etc/ssl/all.crt' } });
    await copy(root, { '/etc/ssl/all.crt': certificates });
    expect(await copied('bundle.crt')).toBe('of the machine');
  });

  it('leaves out an existing configuration', async () => {
    const root = await tree({
      'share/wordpress/wp-config.php': 'secret',
      'share/wordpress/.htaccess': { to: '/etc/none' },
      'share/wordpress/inner/wp-config.php': 'a file of that name elsewhere',
    });
    await copy(root);
    expect(await readdir(join(place.path, 'copy'))).toEqual(['inner']);
    expect(await readdir(join(place.path, 'copy/inner'))).toEqual(['wp-config.php']);
  });

  it('refuses circular links', async () => {
    const root = await tree({ 'share/wordpress/a': { to: 'b' }, 'share/wordpress/b': { to: 'a' } });
    await expect(copy(root)).rejects.toThrow(/circular link/);
    place.remove();
    await mkdir(place.path);
    const deep = await tree({ 'share/wordpress/again': { to: '/share/wordpress' } });
    await expect(copy(deep)).rejects.toThrow(/nested too deeply/);
  });
});

describe('checkCore', () => {
  const whole = {
    'index.php': '',
    'wp-load.php': '',
    'wp-login.php': '',
    'wp-settings.php': '',
    'wp-cron.php': '',
    'wp-admin/includes/upgrade.php': '',
    'wp-includes/version.php': "<?php\n$wp_version = '6.8.7';\n",
    'wp-content/themes/one/style.css': '',
    'wp-content/themes/index.php': '',
    'wp-content/themes/empty/readme': '',
  };

  it('returns the version', async () => {
    const root = await tree(whole);
    expect(await checkCore(root)).toBe('6.8.7');
    expect(await themesIn(root)).toEqual(['one']);
  });

  it('refuses other folders, and a WordPress without themes', async () => {
    const { 'wp-load.php': _, ...rest } = whole;
    await expect(checkCore(await tree(rest))).rejects.toThrow(
      /does not contain WordPress: wp-load.php is missing/,
    );
    place.remove();
    await mkdir(place.path);
    const { 'wp-content/themes/one/style.css': __, ...bare } = whole;
    await expect(checkCore(await tree(bare))).rejects.toThrow(/WordPress 6.8.7 .*has no theme/);
  });
});

describe('versions', () => {
  it('are those that the file says', () => {
    expect(versionIn('<?php\n\n/** x */\n$wp_version = "6.9";\n$wp_db_version = 1;')).toBe('6.9');
    expect(() => versionIn('<?php $version = 1;')).toThrow(PermanentHostError);
  });

  it('are releases', () => {
    for (const version of ['6.9-RC1', '7.0-alpha-123', '../../x', '']) {
      expect(() => versionIn(`<?php\n$wp_version = '${version}';`), version).toThrow(PermanentHostError);
    }
  });

  it('are in the order of their numbers', () => {
    expect(newestFirst(['6.9', '6.10', '6.10.1', '5.9.12', '7.0'])).toEqual([
      '7.0',
      '6.10.1',
      '6.10',
      '6.9',
      '5.9.12',
    ]);
    expect(compareVersions('6.2', '6.2.0')).toBe(0);
    expect(compareVersions('6.2', '6.2.1')).toBeLessThan(0);
  });
});
