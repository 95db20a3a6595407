import { existsSync } from 'node:fs';
import {
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { systemRandomness } from '../../../lib/ids.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { makeHome } from '../isolation/folders.ts';
import { foldersOf, type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { DatabaseTemplates } from './database-templates.ts';
import {
  runInWordPress,
  startWordPress,
  startWordPressMachine,
  type Visit,
  visit,
  type WordPressMachine,
} from './machine.fixture.ts';
import type { Websites } from './website.ts';

const SITE = { primaryHostname: 'shop.test', secure: false };
const clock = manualClock(new Date('2026-05-04T03:02:01.000Z'));

let machine: WordPressMachine;
let websites: Websites;
let templates: DatabaseTemplates;
let version: string;
/** One website for all tests that do not break it. */
let shop: { install: SandboxedInstall; database: string };

beforeAll(async () => {
  machine = await startWordPressMachine({ isPrepared: false });
  ({ websites, templates, version } = await startWordPress(machine, { clock }));
  shop = await newWebsite();
  await machine.serve(shop.install);
});
afterAll(() => machine.stop());

async function newWebsite(title = 'The shop') {
  const made = await machine.newInstall(version);
  await websites.makeFiles(made.install, { ...SITE, database: made.database });
  await websites.fillDatabase(made.install, made.database, { ...SITE, title });
  return made;
}

const page = (path: string, how: Visit = {}) =>
  visit(machine, shop.install, path, { host: 'shop.test:8080', ...how });
const query = (sql: string) => machine.databases.query(shop.database, sql);

const php = (code: string, { install } = shop) => runInWordPress(machine, install, code);

describe('a new website', () => {
  it('shows its home page, its pages by name, and the log-in', async () => {
    const home = await page('/');
    expect(home.status).toBe(200);
    expect(home.body).toContain('<title>The shop');
    expect(home.body).toContain('http://shop.test:8080/hello-world/');
    expect(home.body.trimEnd()).toMatch(/<\/html>$/);
    expect((await page('/sample-page/')).body).toContain('Sample Page');
    expect((await page('/wp-login.php')).body).toContain('name="pwd"');
    expect((await page('/no-such-page/')).status).toBe(404);
  });

  it('answers by the host name and scheme of the request', async () => {
    const { body } = await page('/', { host: 'www.other.test', secure: true });
    expect(body).toContain('https://www.other.test/hello-world/');
    expect(body).not.toContain('shop.test');
    // An invalid host name is shown to no one.
    expect((await page('/', { host: '"><script>' })).body).toContain('http://shop.test:8080/hello-world/');
  });

  it('contains no placeholders of the database template', async () => {
    const dump = join(machine.layout.scratch, 'shop.sql');
    await machine.databases.dump(shop.database, dump);
    const text = await readFile(dump, 'utf8');
    expect(text).not.toContain('homeport.invalid');
    expect(text).not.toContain('homeport-title');
    expect(await query('SELECT user_registered FROM wp_users')).toEqual([['2026-05-04 03:02:01']]);
    expect(await query("SELECT option_value FROM wp_options WHERE option_name = 'admin_email'")).toEqual([
      ['admin@shop.test'],
    ]);
    expect(await machine.databases.list()).toEqual(
      expect.not.arrayContaining([expect.stringContaining('template')]),
    );
    expect((await machine.users.list()).map(({ name }) => name)).not.toContainEqual(
      expect.stringContaining('template'),
    );
  });

  it('has an administrator whose password is in private/wordpress-admin.txt, readable by the install alone', async () => {
    const file = join(machine.layout.privateOf(shop.install.id), 'wordpress-admin.txt');
    const { mode, uid } = await lstat(file);
    expect({ mode: mode & 0o777, uid }).toEqual({ mode: 0o600, uid: shop.install.uid });
    const text = await readFile(file, 'utf8');
    expect(text).toContain('http://shop.test:8080/wp-admin/');
    const password = /^Password: +(\S{24})$/m.exec(text)?.[1] ?? '';
    const logIn = (pwd: string) =>
      page('/wp-login.php', {
        form: { log: 'admin', pwd, testcookie: '1' },
        cookie: 'wordpress_test_cookie=WP%20Cookie%20check',
      });
    expect((await logIn('wrong')).status).toBe(200);
    expect((await logIn(password)).status).toBe(302);
  });

  it('accepts any title', async () => {
    const title = `It's "1 < 2" & \\n ; -- 100%`;
    const other = await newWebsite(title);
    expect(await php("echo html_entity_decode(get_option('blogname'), ENT_QUOTES);", other)).toBe(title);
  });

  it('offers no WordPress updates, allows plugins, and does not run WP-Cron itself', async () => {
    const told = await php(`
      wp_set_current_user(1);
      require ABSPATH . 'wp-admin/includes/update.php';
      require ABSPATH . 'wp-admin/includes/file.php';
      echo json_encode([count(get_core_updates()), current_user_can('update_core'), current_user_can('install_plugins'),
        get_filesystem_method([], WP_PLUGIN_DIR), is_writable(WP_PLUGIN_DIR), is_writable(ABSPATH . WPINC), DISABLE_WP_CRON]);`);
    expect(JSON.parse(told)).toEqual([0, false, true, 'direct', true, false, true]);
  });

  it('sends mail from its main host name', async () => {
    const from = await php(`
      add_filter('pre_wp_mail', '__return_null');
      echo apply_filters('wp_mail_from', 'wordpress@localhost'), ' ', apply_filters('wp_mail_from', 'me@else.test');`);
    expect(from).toBe('wordpress@shop.test me@else.test');
  });
});

describe('its database', () => {
  it('is filled once', async () => {
    await query("UPDATE wp_options SET option_value = 'Mine' WHERE option_name = 'blogdescription'");
    await websites.fillDatabase(shop.install, shop.database, { ...SITE, title: 'Another' });
    const rows = await query(
      "SELECT option_value FROM wp_options WHERE option_name IN ('blogname', 'blogdescription') ORDER BY option_name DESC",
    );
    expect(rows).toEqual([['The shop'], ['Mine']]);
  });

  it('is filled again after an interruption', async () => {
    const { install, database } = await machine.newInstall(version);
    const home = machine.layout.homeOf(install.id);
    await writeFile(join(home, '.filling'), '');
    await machine.databases.query(
      database,
      'CREATE TABLE wp_posts (id INT); CREATE TABLE wp_options (id INT)',
    );
    await websites.makeFiles(install, { ...SITE, database });
    await websites.fillDatabase(install, database, { ...SITE, title: 'Again' });
    expect(await php("echo get_option('blogname'), get_post(1)->post_name;", { install, database })).toBe(
      'Againhello-world',
    );
    expect(existsSync(join(home, '.filling'))).toBe(false);
  });

  it('that was filled to its end and then broken off keeps its content, and gets its password written', async () => {
    const { install, database } = await machine.newInstall(version);
    const home = machine.layout.homeOf(install.id);
    await websites.makeFiles(install, { ...SITE, database });
    await websites.fillDatabase(install, database, { ...SITE, title: 'Whole' });
    await machine.databases.query(
      database,
      "UPDATE wp_options SET option_value = 'Mine' WHERE option_name = 'blogname'",
    );
    await writeFile(join(home, '.filling'), 'the-password-it-was-given');
    await websites.fillDatabase(install, database, { ...SITE, title: 'Another' });
    expect(await php("echo get_option('blogname');", { install, database })).toBe('Mine');
    const told = await readFile(join(machine.layout.privateOf(install.id), 'wordpress-admin.txt'), 'utf8');
    expect(told).toContain('the-password-it-was-given');
    expect(existsSync(join(home, '.filling'))).toBe(false);
  });

  it('is not changed if it contains another table', async () => {
    const { install, database } = await machine.newInstall(version);
    await machine.databases.query(database, 'CREATE TABLE kept (id INT)');
    await websites.fillDatabase(install, database, { ...SITE, title: 'Nothing' });
    expect(await machine.databases.query(database, 'SHOW TABLES')).toEqual([['kept']]);
    const { home, private: hidden } = foldersOf(machine.layout, install);
    // Not even where a filling was broken off: that has no such table.
    await writeFile(join(home, '.filling'), '');
    await websites.fillDatabase(install, database, { ...SITE, title: 'Nothing' });
    expect(await machine.databases.query(database, 'SHOW TABLES')).toEqual([['kept']]);
    expect([existsSync(join(home, '.filling')), existsSync(join(hidden, 'wordpress-admin.txt'))]).toEqual([
      false,
      false,
    ]);
  });
});

describe('its files', () => {
  const htdocs = () => machine.layout.htdocsOf(shop.install.id);

  it('stay as they are when they are made again, and what is missing or was bent comes back', async () => {
    const { layout } = machine;
    const config = await readFile(join(htdocs(), 'wp-config.php'), 'utf8');
    await rm(join(htdocs(), 'wp-includes'));
    await rm(join(htdocs(), 'wp-admin'));
    await symlink('/etc', join(htdocs(), 'mine'));
    await rm(join(htdocs(), 'wp-links-opml.php'));
    await writeFile(join(htdocs(), 'wp-links-opml.php'), 'mine');
    expect(await websites.checkFiles(shop.install, { ...SITE, database: shop.database })).toEqual([
      `wp-admin is not a link to ${layout.coreOf(version)}/wp-admin`,
      `wp-includes is not a link to ${layout.coreOf(version)}/wp-includes`,
    ]);
    await websites.makeFiles(shop.install, { ...SITE, database: shop.database });
    expect(await websites.checkFiles(shop.install, { ...SITE, database: shop.database })).toEqual([]);
    expect(await readlink(join(htdocs(), 'wp-includes'))).toBe(join(layout.coreOf(version), 'wp-includes'));
    expect(await readFile(join(htdocs(), 'wp-links-opml.php'), 'utf8')).toBe('mine');
    expect(await readlink(join(htdocs(), 'mine'))).toBe('/etc');
    expect(await readFile(join(htdocs(), 'wp-config.php'), 'utf8')).toBe(config);
    await rm(join(htdocs(), 'mine'));
  });

  it('are made by links of root, without which the web server would not follow', async () => {
    const link = join(htdocs(), 'wp-content/themes');
    for (const path of [join(htdocs(), 'wp-includes'), join(link, 'twentytwentythree')]) {
      expect((await lstat(path)).uid).toBe(0);
    }
    const { uid } = shop.install;
    await rm(join(htdocs(), 'wp-includes'));
    await runCommand('setpriv', [
      `--reuid=${uid}`,
      '--clear-groups',
      'ln',
      '-s',
      join(machine.layout.coreOf(version), 'wp-includes'),
      join(htdocs(), 'wp-includes'),
    ]);
    expect(await websites.checkFiles(shop.install, { ...SITE, database: shop.database })).toHaveLength(1);
    await websites.makeFiles(shop.install, { ...SITE, database: shop.database });
    expect((await lstat(join(htdocs(), 'wp-includes'))).uid).toBe(0);
  });

  it('are never created through a customer’s link', async () => {
    const elsewhere = await machine.folder('elsewhere');
    await rename(join(htdocs(), 'wp-content'), join(htdocs(), 'aside'));
    await symlink(elsewhere, join(htdocs(), 'wp-content'));
    await websites.makeFiles(shop.install, { ...SITE, database: shop.database });
    expect(await runCommand('find', [elsewhere, '-mindepth', '1'])).toMatchObject({ stdout: '' });
    await rm(join(htdocs(), 'wp-content'));
    await rename(join(htdocs(), 'aside'), join(htdocs(), 'wp-content'));
  });

  it('tell the website a new address', async () => {
    await websites.makeFiles(shop.install, {
      primaryHostname: 'new.test',
      secure: true,
      database: shop.database,
    });
    expect(await php('echo home_url();')).toBe('https://new.test:8444');
    await websites.makeFiles(shop.install, { ...SITE, database: shop.database });
    expect(await php('echo home_url();')).toBe('http://shop.test:8080');
  });

  it('lead to no other database, whatever a configuration that was brought along says', async () => {
    const file = join(htdocs(), 'wp-config.php');
    const before = await readFile(file, 'utf8');
    await writeFile(
      file,
      "<?php\n@define('DB_NAME', 'elsewhere');\n@define('DB_USER', 'root');\n$table_prefix = 'wp_';\nrequire_once ABSPATH . 'wp-settings.php';\n",
    );
    expect(await php("echo DB_NAME, ' ', get_option('blogname');")).toBe(`${shop.database} The shop`);
    await writeFile(file, before);
  });

  it('lead to the same website for tools that look for WordPress in the document root', async () => {
    const tool = (code: string) => {
      const root = htdocs();
      return `define('ABSPATH', '${root}/'); putenv('HOMEPORT_DOC'); unset($_SERVER['HOMEPORT_DOC']);
        require '${root}/wp-config.php'; ${code}`;
    };
    const [program, ...args] = sandboxCommand(machine.layout, shop.install, [
      '/usr/bin/php',
      '-r',
      tool("echo get_option('blogname'), ' ', home_url();"),
    ]);
    expect((await runCommand(program, args)).stdout).toBe('The shop http://shop.test:8080');
  });

  it('without wp-config.php say so, and get another one only on request', async () => {
    const file = join(htdocs(), 'wp-config.php');
    await rename(file, `${file}.aside`);
    await websites.repairFiles(shop.install, { ...SITE, database: shop.database });
    expect(await php('')).toContain('wp-config.php of this website is missing');
    await websites.rewriteConfig(shop.install, 'x_');
    expect(await readFile(file, 'utf8')).toContain("$table_prefix = 'x_';");
    await rename(`${file}.aside`, file);
    await websites.rewriteConfig(shop.install, 'y_');
    expect(await readFile(file, 'utf8')).toContain("$table_prefix = 'wp_';");
  });

  it('of the customer are not created in an existing website', async () => {
    const content = join(htdocs(), 'wp-content');
    await rename(content, `${content}.aside`);
    await websites.repairFiles(shop.install, { ...SITE, database: shop.database });
    await expect(stat(content)).rejects.toThrow('ENOENT');
    await mkdir(content);
    await websites.repairFiles(shop.install, { ...SITE, database: shop.database });
    expect(await readdir(content)).toEqual([]);
    await rmdir(content);
    await rename(`${content}.aside`, content);
  });
});

describe('the database template', () => {
  onlyInLong(it)('is made once, and what a making left that was killed is taken away', async () => {
    const { layout, users, databases } = machine;
    const file = await templates.ensure(version);
    const before = (await stat(file)).mtimeMs;
    await templates.ensure(version);
    expect((await stat(file)).mtimeMs).toBe(before);

    const id = systemRandomness.uuid();
    const name = `homeport-golden-${id.slice(0, 8)}`;
    const database = `hp_${name.replaceAll('-', '_')}`;
    const ids = await users.ensure({ installId: id, name, home: layout.homeOf(id), shell: '/bin/sh' });
    await makeHome(layout, { ...shop.install, ...ids, id, name });
    await databases.create(database, name);
    await rm(file);
    expect(await templates.ensure(version)).toBe(file);
    expect(await users.find(id)).toBeNull();
    expect(existsSync(layout.homeOf(id))).toBe(false);
    expect((await databases.list()).filter((one) => one.includes('golden'))).toEqual([]);
  });

  it('cannot be made of what the host does not hold', async () => {
    await expect(templates.ensure('97.1')).rejects.toThrow(
      'this host does not have WordPress 97.1: add it first',
    );
  });
});
