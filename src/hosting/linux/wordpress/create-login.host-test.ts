import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { LOGIN_PATH, type WordPressLogin } from '../../contract/wordpress-login.ts';
import { loginCases } from '../../websites/login/login-cases.fixture.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import {
  runInWordPress,
  startWordPress,
  startWordPressMachine,
  type Visit,
  visit,
  type WordPressMachine,
} from './machine.fixture.ts';
import type { Websites } from './website.ts';

interface Website {
  install: SandboxedInstall;
  database: string;
}

let machine: WordPressMachine;
let websites: Websites;
let clock: ManualClock;
let shop: Website;
let cafe: Website;

beforeAll(async () => {
  machine = await startWordPressMachine();
  clock = manualClock(new Date());
  const started = await startWordPress(machine, { clock });
  websites = started.websites;
  [shop, cafe] = [await website(started.version), await website(started.version)];
  await runInWordPress(
    machine,
    shop.install,
    "wp_insert_user(['user_login' => 'ed.itor', 'user_pass' => 'x', 'role' => 'editor']);",
  );
});
afterAll(() => machine?.stop());

async function website(version: string): Promise<Website> {
  const made = await machine.newInstall(version);
  const site = { primaryHostname: 'shop.test', secure: false, database: made.database };
  await websites.makeFiles(made.install, site);
  await websites.fillDatabase(made.install, made.database, { ...site, title: 'Shop' });
  await machine.serve(made.install);
  return made;
}

const create = (user: string | null = null, { install, database } = shop) =>
  websites.createLogin(install, database, user);

async function login(user: string | null = null, of = shop): Promise<WordPressLogin> {
  const made = await create(user, of);
  if ('refused' in made) throw new Error(made.reason);
  return made;
}

const use = ({ token }: { token: string }, { install } = shop, visitor: Visit = {}) =>
  visit(machine, install, `${LOGIN_PATH}?token=${token}`, visitor);

const stored = ({ database } = shop) =>
  machine.databases.query(
    database,
    "SELECT option_name, option_value, autoload FROM wp_options WHERE option_name LIKE 'homeport%'",
  );

loginCases(() => ({
  root: machine.layout.htdocsOf(shop.install.id),
  create: (user) => create(user),
  use: (token) => use({ token }),
}));

describe('a login', () => {
  it('lasts a minute, and its token is nowhere', async () => {
    const made = await login();
    expect(Date.parse(made.expiresAt) - clock.now().getTime()).toBeGreaterThan(58_000);
    expect(JSON.stringify(await stored())).not.toContain(made.token);
    expect(await use(made)).toMatchObject({ status: 302 });
    expect(await stored()).toEqual([]);
  });

  it('signs in the user that it names, whatever the role', async () => {
    const made = await login('ED.itor');
    expect(made.user).toBe('ed.itor');
    expect(await use(made)).toMatchObject({ status: 302 });
  });

  it('signs in one of many requests at once', async () => {
    const made = await login();
    const answers = await Promise.all(Array.from({ length: 20 }, () => use(made)));
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(19);
  });

  it('expires, and is deleted with the next one', async () => {
    const later = await login();
    clock.advance(-61_000);
    const made = await login();
    const unused = await login();
    clock.advance(61_000);
    expect(await use(made)).toMatchObject({ status: 403 });
    expect(await stored()).toHaveLength(2);
    await login();
    expect(await stored()).toHaveLength(2);
    expect(await use(unused)).toMatchObject({ status: 403 });
    expect(await use(later)).toMatchObject({ status: 302 });
  });

  it('counts in its own install only, even if another one has a copy of its database', async () => {
    const made = await login();
    expect(await use(made, cafe)).toMatchObject({ status: 403 });
    const [[name = '', value = ''] = []] = await stored();
    await machine.databases.query(
      cafe.database,
      `INSERT INTO wp_options (option_name, option_value, autoload) VALUES ('${name}', '${value}', 'no')`,
    );
    expect(await use(made, cafe)).toMatchObject({ status: 403 });
    expect(await use(made)).toMatchObject({ status: 302 });
  });

  it('is not used up by a browser that looks ahead, and refuses other tokens', async () => {
    const made = await login();
    expect(await use(made, shop, { prefetch: true })).toMatchObject({ status: 503 });
    expect(await use({ token: '' })).toMatchObject({ status: 403 });
    expect(await visit(machine, shop.install, `${LOGIN_PATH}?token[]=x`)).toMatchObject({ status: 403 });
    expect(await visit(machine, shop.install, LOGIN_PATH)).toMatchObject({ status: 403 });
    expect(await use(made)).toMatchObject({ status: 302 });
  });
});

describe('plugins', () => {
  const put = async (path: string, code: string) => {
    const file = join(machine.layout.htdocsOf(shop.install.id), 'wp-content', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `<?php ${code}`);
    return () => rm(file);
  };

  it('see the sign-in, but not the token', async () => {
    const file = '/tmp/seen.txt';
    const remove = await put(
      'mu-plugins/spy.php',
      `$seen = fn($what) => file_put_contents('${file}', $what . serialize([$_GET, $_REQUEST, $_SERVER]), FILE_APPEND);
      $seen('loaded');
      add_action('wp_login', fn($login, $user) => $seen("signed in $login {$user->ID} " . get_current_user_id()), 10, 2);
      add_action('init', function () { if (str_starts_with($_SERVER['REQUEST_URI'], '/seen')) { readfile('${file}'); exit; } });`,
    );
    const made = await login();
    expect(await use(made)).toMatchObject({ status: 302 });
    const { body } = await visit(machine, shop.install, '/seen');
    await remove();
    expect(body).toContain('signed in admin 1 1');
    expect(body).not.toContain(made.token);
  });

  it('do not start for a stranger', async () => {
    const spy = await put('mu-plugins/spy.php', "echo 'plugin ', count($_GET), count($_REQUEST);");
    const refused = await use({ token: 'x' });
    const signedIn = await use(await login());
    await spy();
    expect(refused).toMatchObject({ status: 403, body: expect.stringContaining('This link was used') });
    expect(refused.body).not.toContain('plugin');
    expect(refused.body).toMatch(/<a href="http[^"]*\/wp-login\.php">Sign in with a password/);
    expect(signedIn.body).toContain('plugin 00');
  });

  it('that close the website or are broken stop no login', async () => {
    const hide = await put(
      'mu-plugins/hide.php',
      "add_action('wp_loaded', fn() => is_user_logged_in() || wp_die('closed'), 1);",
    );
    expect(await use(await login())).toMatchObject({ status: 302 });
    await hide();
    const crash = await put('mu-plugins/crash.php', 'no_such_function();');
    const made = await login();
    expect(await use(made)).toMatchObject({ status: 500 });
    await crash();
    // A page that failed has not used it up.
    expect(await use(made)).toMatchObject({ status: 302 });
  });

  it('of this host may be gone', async () => {
    const file = join(machine.layout.htdocsOf(shop.install.id), 'wp-content/mu-plugins/homeport.php');
    await rename(file, `${file}.off`);
    expect(await use(await login())).toMatchObject({ status: 302 });
    await rename(`${file}.off`, file);
  });
});

describe('a website that cannot be signed in to', () => {
  it('has no administrator', async () => {
    const set = (to: string) =>
      machine.databases.query(
        cafe.database,
        `UPDATE wp_usermeta SET meta_value = '${to}' WHERE meta_key = 'wp_capabilities'`,
      );
    await set('a:1:{s:6:"editor";b:1;}');
    expect(await create(null, cafe)).toEqual({
      refused: 'website',
      reason: 'This WordPress has no administrator. Name another user.',
    });
    await set('a:1:{s:13:"administrator";b:1;}');
    expect(await create(null, cafe)).toMatchObject({ user: 'admin' });
  });

  it('has no tables', async () => {
    await machine.databases.query(cafe.database, 'RENAME TABLE wp_options TO other_options');
    expect(await create(null, cafe)).toMatchObject({ refused: 'website' });
  });

  it('has no PHP', async () => {
    await machine.daemons.remove(`php-${cafe.install.id}`);
    expect(await create(null, cafe)).toMatchObject({
      reason: expect.stringContaining('PHP of this website is not running.'),
    });
  });
});

describe('a network of websites', () => {
  it('signs in its own administrator', async () => {
    const config = join(machine.layout.htdocsOf(shop.install.id), 'wp-config.php');
    await runInWordPress(
      machine,
      shop.install,
      `require ABSPATH . 'wp-admin/includes/upgrade.php';
      foreach ($wpdb->tables('ms_global') as $table => $name) $wpdb->$table = $name;
      install_network();
      populate_network(1, 'shop.test:8080', 'me@shop.test', 'Net', '/', false);
      $wpdb->update($wpdb->sitemeta, ['meta_value' => serialize(['ed.itor'])], ['meta_key' => 'site_admins']);
      $constants = ['MULTISITE' => true, 'SUBDOMAIN_INSTALL' => false, 'DOMAIN_CURRENT_SITE' => 'shop.test:8080',
        'PATH_CURRENT_SITE' => '/', 'SITE_ID_CURRENT_SITE' => 1, 'BLOG_ID_CURRENT_SITE' => 1];
      $lines = '';
      foreach ($constants as $name => $value) $lines .= "define('$name', " . var_export($value, true) . ");\n";
      file_put_contents('${config}', str_replace("define('WP_DEBUG'", $lines . "define('WP_DEBUG'", file_get_contents('${config}')));`,
    );
    const made = await login();
    expect(made).toMatchObject({ user: 'ed.itor' });
    expect(await use(made, shop, { host: 'shop.test:8080' })).toMatchObject({ status: 302 });
    expect(await use(await login('admin'), shop, { host: 'shop.test:8080' })).toMatchObject({ status: 302 });
  });
});
