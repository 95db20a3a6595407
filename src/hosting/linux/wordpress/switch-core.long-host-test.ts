import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copyAsVersion } from '../../../../test/host/wordpress-core.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import { flushRedis } from '../daemons/redis.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import {
  runInWordPress,
  startWordPress,
  startWordPressMachine,
  visit,
  type WordPressMachine,
} from './machine.fixture.ts';
import type { Websites } from './website.ts';

const SITE = { primaryHostname: 'shop.test', secure: false };
const THEME = 'twentytwentythree';
/** A later WordPress, which brings another theme instead, and one whose upgrade goes wrong on the way. */
const LATER = '98.1';
const BROKEN = '99.2.3';

let machine: WordPressMachine;
let websites: Websites;
let version: string;
/** On the first version. */
let install: SandboxedInstall;
let database: string;

beforeAll(async () => {
  machine = await startWordPressMachine({ ownCores: true });
  // An older WordPress than the packaged one, which stores some values otherwise.
  ({ websites, version } = await startWordPress(machine, { source: 'debian' }));
  const { layout } = machine;
  const core = layout.coreOf(version);
  const later = layout.coreOf(LATER);
  await copyAsVersion(core, later, LATER, 99_000);
  await rename(join(later, 'wp-content/themes', THEME), join(later, 'wp-content/themes/later'));
  await writeFile(join(later, 'wp-later.php'), '<?php');
  await rm(join(later, 'wp-links-opml.php'));
  await copyAsVersion(core, layout.coreOf(BROKEN), BROKEN, 99_500);
  await writeFile(
    join(layout.coreOf(BROKEN), 'wp-admin/includes/schema.php'),
    `<?php global $wpdb; $wpdb->query('DELETE FROM wp_posts'); throw new Exception('it went wrong');`,
  );
  ({ install, database } = await machine.newInstall(version));
  await websites.makeFiles(install, { ...SITE, database });
  await websites.fillDatabase(install, database, { ...SITE, title: 'The shop' });
  await machine.serve(install);
});
afterAll(() => machine.stop());

const on = (wordpressVersion: string) => ({ ...install, wordpressVersion });
const databaseVersion = async () =>
  (
    await machine.databases.query(
      database,
      "SELECT option_value FROM wp_options WHERE option_name = 'db_version'",
    )
  )[0]?.[0];
const htdocs = (name: string) => join(machine.layout.htdocsOf(install.id), name);
/** The home page, after what the host does when a core was switched. */
async function home(core: string) {
  await machine.serve(on(core));
  await machine.daemons.restart(`php-${install.id}`);
  await flushRedis(machine.layout.redisSocketOf(install.id));
  return visit(machine, install, '/', { host: 'shop.test:8080' });
}

it('does not take an error page for an upgraded database', async () => {
  const before = await databaseVersion();
  const dropIn = htdocs('wp-content/db.php');
  await writeFile(
    dropIn,
    `<?php if (defined('WP_INSTALLING')) exit('<p>No connection to the database</p>');`,
  );
  await expect(websites.switchCore(install, database, version, LATER)).rejects.toThrow(
    /upgrade\.php ended early: No connection to the database$/,
  );
  await rm(dropIn);
  expect(await databaseVersion()).toBe(before);
  expect(await readlink(htdocs('wp-includes'))).toBe(join(machine.layout.coreOf(version), 'wp-includes'));
});

it('puts a website on a later core with its database and its theme, and back again with what was written meanwhile', async () => {
  const { layout } = machine;
  const before = await databaseVersion();
  await websites.switchCore(install, database, version, LATER);

  expect(await databaseVersion()).toBe('99000');
  expect(await readlink(htdocs('wp-includes'))).toBe(join(layout.coreOf(LATER), 'wp-includes'));
  expect(await readlink(htdocs('wp-later.php'))).toBe(join(layout.coreOf(LATER), 'wp-later.php'));
  expect(existsSync(htdocs('wp-links-opml.php'))).toBe(false);
  // The theme in use did not come with it, and is the website's own from now on.
  const theme = await lstat(htdocs(`wp-content/themes/${THEME}`));
  expect({ folder: theme.isDirectory(), uid: theme.uid }).toEqual({ folder: true, uid: install.uid });
  expect((await lstat(htdocs(`wp-content/themes/${THEME}/style.css`))).isFile()).toBe(true);
  expect(await readlink(htdocs('wp-content/themes/later'))).toContain(`/${LATER}/`);
  expect(await websites.checkFiles(on(LATER), { ...SITE, database })).toEqual([]);
  const page = await home(LATER);
  expect(page.status).toBe(200);
  expect(page.body).toContain(`content="WordPress ${LATER}"`);
  expect(page.body).toContain('</html>');

  const dump = join(layout.privateOf(install.id), `database-before-wordpress-${LATER}.sql`);
  const { uid, mode } = await lstat(dump);
  expect({ uid, mode: mode & 0o777 }).toEqual({ uid: install.uid, mode: 0o600 });
  expect(await readFile(dump, 'utf8')).toContain(`'db_version','${before}'`);

  await runInWordPress(
    machine,
    on(LATER),
    `wp_insert_post(['post_title' => 'Meanwhile', 'post_status' => 'publish']);
     $wpdb->update($wpdb->options, ['autoload' => 'on'], ['option_name' => 'blogname']);
     $hash = '$wp' . password_hash(base64_encode(hash_hmac('sha384', 'of today', 'wp-sha384', true)), PASSWORD_BCRYPT);
     $wpdb->update($wpdb->users, ['user_pass' => $hash], ['ID' => 1]);`,
  );
  await websites.switchCore(on(LATER), database, LATER, version);
  expect(await databaseVersion()).toBe(before);
  expect(existsSync(htdocs('wp-later.php'))).toBe(false);
  expect(existsSync(htdocs('wp-content/themes/later'))).toBe(false);
  const back = await home(version);
  expect(back.status).toBe(200);
  expect(back.body).toContain(`content="WordPress ${version}"`);
  expect(back.body).toContain('Meanwhile');
  // This version reads values written by a later one.
  const autoload = "SELECT autoload FROM wp_options WHERE option_name = 'blogname'";
  expect(await machine.databases.query(database, autoload)).toEqual([['yes']]);
  const signIn = await runInWordPress(
    machine,
    install,
    `foreach (['of today', 'wrong'] as $password) echo json_encode(is_wp_error(wp_authenticate('admin', $password)));`,
  );
  expect(signIn).toBe('falsetrue');
});

it('leaves everything as it was if the upgrade fails', async () => {
  const links = await readlink(htdocs('wp-includes'));
  const posts = await machine.databases.query(database, 'SELECT * FROM wp_posts ORDER BY ID');
  expect(posts.length).toBeGreaterThan(2);
  await expect(websites.switchCore(install, database, version, BROKEN)).rejects.toThrow(
    /WordPress of shop-.*upgrade\.php failed: .*it went wrong/s,
  );
  expect(await readlink(htdocs('wp-includes'))).toBe(links);
  expect(await machine.databases.query(database, 'SELECT * FROM wp_posts ORDER BY ID')).toEqual(posts);
  expect(await websites.checkFiles(install, { ...SITE, database })).toEqual([]);
  expect((await home(version)).status).toBe(200);
});

it('succeeds even if the dump cannot be kept', async () => {
  const place = join(machine.layout.privateOf(install.id), `database-before-wordpress-${LATER}.sql`);
  await rm(place, { force: true });
  await mkdir(join(place, 'full'), { recursive: true });
  await websites.switchCore(install, database, version, LATER);
  expect(await databaseVersion()).toBe('99000');
  await websites.switchCore(on(LATER), database, LATER, version);
  expect(await readdir(machine.layout.scratch)).toEqual([]);
});

it('accepts only versions of this host', async () => {
  await expect(websites.switchCore(install, database, version, '97.0')).rejects.toThrow(
    'this host does not have WordPress 97.0: add it first',
  );
  expect(existsSync(phpFileOf(machine.layout.coreOf(LATER), 'upgrade.php'))).toBe(true);
});
