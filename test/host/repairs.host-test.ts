import { createHash } from 'node:crypto';
import {
  chmod,
  lstat,
  mkdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import { faultOf } from '../../src/features/uptime/judgement.ts';
import type { Difference } from '../../src/hosting/contract/host.ts';
import type { InstallState } from '../../src/hosting/contract/install-state.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { tablePaths } from '../../src/hosting/linux/nginx/edge-options.ts';
import { requirePackagedFiles } from '../../src/hosting/wordpress/packaged-files.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { type Visit, visit } from '../edge.ts';
import { cases, isLong, onlyInLong, rounds } from '../rounds.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';
import { plainState } from './state.ts';

/** Faults made by hand on one host: each is named, and repaired without inventing anything, or the website is closed. */
let machine: TestMachine;
let running: RunningMachine;
/** With the tables of an imported website. */
let shop: InstallState;
let blog: InstallState;
/** Untouched by all of it, in the long tests. */
let others: InstallState[];
let othersBefore: string[];

const layout = () => linuxLayout(machine.folder, machine.runFolder);
const htdocs = (install: InstallState, ...path: string[]) => join(layout().htdocsOf(install.id), ...path);
const databaseOf = ({ id }: InstallState) => `hp_${id.replaceAll('-', '')}`;

async function sql(statement: string): Promise<string> {
  const options = ['--no-defaults', '--socket', layout().mariadbSocket, '--batch', '--skip-column-names'];
  return (await runCommand('mariadb', [...options, '--execute', statement])).stdout;
}

/** A page that PHP makes. */
function page({ primaryHostname }: InstallState, path = '/'): Promise<Visit> {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const mark = path.includes('?') ? '' : `?${crypto.randomUUID()}`;
  return visit(
    { hosting: { edgeHttp, edgeHttps, ssh: sshListen } },
    `http://${primaryHostname}${path}${mark}`,
  );
}

const inspect = (isRepairing: boolean) => running.host.inspect([shop, blog, ...others], isRepairing);
const textOf = (found: Difference[]) => found.map(({ thing, message }) => `${thing}: ${message}`).join('\n');

/** The customer's files and tables, without what the website itself writes. */
async function dataOf(install: InstallState, { without = [] }: { without?: string[] } = {}): Promise<string> {
  const hash = createHash('sha256');
  const { stdout } = await runCommand('find', [htdocs(install), '-type', 'f', '-printf', '%P\n']);
  for (const name of stdout
    .split('\n')
    .filter((one) => one !== '' && !without.includes(one))
    .sort()) {
    hash.update(`${name}\0`).update(await readFile(htdocs(install, name)));
  }
  const tables = (await sql(`SHOW TABLES FROM ${databaseOf(install)}`)).split('\n').filter(Boolean);
  const checked = tables.filter((name) => !name.endsWith('options'));
  const names = checked.map((table) => `${databaseOf(install)}.${table}`);
  if (names.length > 0) hash.update(await sql(`CHECKSUM TABLE ${names.join(', ')}`));
  return hash.digest('hex');
}

const dataOfOthers = () => Promise.all(others.map((install) => dataOf(install)));

/** Gives the tables of a website another prefix, as an import does. */
async function changePrefix(install: InstallState, prefix: string): Promise<void> {
  const database = databaseOf(install);
  const tables = (await sql(`SHOW TABLES FROM ${database}`)).split('\n').filter(Boolean);
  const named = tables.map((name) => `${database}.${name} TO ${database}.${name.replace(/^wp_/, prefix)}`);
  await sql(`RENAME TABLE ${named.join(', ')}`);
  await sql(
    `UPDATE ${database}.${prefix}options SET option_name = '${prefix}user_roles' WHERE option_name = 'wp_user_roles';
     UPDATE ${database}.${prefix}usermeta SET meta_key = CONCAT('${prefix}', SUBSTR(meta_key, 4)) WHERE meta_key LIKE 'wp\\_%'`,
  );
  const config = await readFile(htdocs(install, 'wp-config.php'), 'utf8');
  await writeFile(htdocs(install, 'wp-config.php'), config.replace("= 'wp_'", `= '${prefix}'`));
  await running.host.purge(install, 'object');
}

const OURS = 'xyz9_';

beforeAll(async () => {
  machine = await createPreparedMachine({ HOMEPORT_WP_CLI_SOURCE: requirePackagedFiles().wpCli });
  running = await machine.start();
  [shop, blog] = [plainState('repair-shop'), plainState('repair-blog')];
  others = isLong ? [plainState('repair-other')] : [];
  for (const install of [shop, blog, ...others]) await running.host.apply(install);
  await changePrefix(shop, OURS);
  await running.host.apply(shop);
  for (const install of [shop, blog]) {
    await writeFile(htdocs(install, 'wp-content/uploads/photo.txt'), `photo of ${install.name}`);
    expect((await page(install)).status).toBe(200);
  }
  othersBefore = await dataOfOthers();
});
afterAll(async () => {
  if (othersBefore !== undefined) expect(await dataOfOthers()).toEqual(othersBefore);
  await machine?.remove();
});
beforeAll(async () => {
  expect(await inspect(false)).toEqual([]);
});
// A repair ends with such an inspection, too.
if (isLong) {
  beforeEach(async () => {
    expect(await inspect(false)).toEqual([]);
  });
}

/** Expects a fault in these words, its repair, a website that works, and the same data. */
async function expectRepaired(
  install: InstallState,
  message: RegExp,
  { without = [] }: { without?: string[] } = {},
): Promise<void> {
  const data = await dataOf(install, { without });
  expect(textOf(await inspect(false))).toMatch(message);
  const repaired = await inspect(true);
  expect(textOf(repaired)).toMatch(message);
  expect(repaired.filter(({ mended }) => mended !== true)).toEqual([]);
  expect((await page(install)).status).toBe(200);
  expect(await inspect(false)).toEqual([]);
  expect(await dataOf(install, { without })).toBe(data);
}

/** Expects that the repair names the loss, creates nothing, and closes the website. */
async function expectClosed(install: InstallState, message: string): Promise<void> {
  const loss = { thing: `install ${install.name}: data`, backupOf: install.id };
  const named = expect.stringContaining(message);
  expect(await inspect(false)).toContainEqual(
    expect.objectContaining({ ...loss, message: named, mended: null }),
  );
  const closed = { ...loss, message: `${message} The website is closed to visitors.` };
  for (let times = 0; times < rounds(1, 2); times++) {
    expect(await inspect(true)).toContainEqual(
      expect.objectContaining({ ...closed, mended: false, remedy: expect.stringContaining('backup') }),
    );
  }
  await expectShut(install);
}

async function expectShut(install: InstallState): Promise<void> {
  for (const path of ['/', '/wp-login.php', '/wp-includes/css/dashicons.min.css', '/wp-admin/install.php']) {
    const { status, body, headers } = await page(install, path);
    expect([path, status], body).toEqual([path, 503]);
    expect(body).toContain('Not available now');
    expect(headers['retry-after']).toBeDefined();
  }
  const order = { pointId: crypto.randomUUID(), baseId: null, keep: [] };
  await expect(running.host.recordPoint(install, order)).rejects.toThrow('has lost data');
}

/** PHP would fill the object cache with its former settings for two seconds. */
async function writeConfig(install: InstallState, text: string): Promise<void> {
  await writeFile(htdocs(install, 'wp-config.php'), text);
  await running.host.restartPhp(install);
  await running.host.purge(install, 'object');
}

/** PHP notices a changed file within two seconds. */
const expectStatus = (install: InstallState, status: number) =>
  expect.poll(async () => (await page(install)).status, { timeout: 10_000, interval: 200 }).toBe(status);

/** Brings the data back by hand, as a customer with SFTP does, and expects that the website opens without help. */
async function expectOpened(install: InstallState, data: string): Promise<void> {
  await expect.poll(async () => (await page(install)).status, { timeout: 90_000, interval: 500 }).toBe(200);
  expect(await dataOf(install)).toBe(data);
  await expect.poll(() => inspect(false), { timeout: 60_000, interval: 1_000 }).toEqual([]);
}

describe('a repair restores', () => {
  onlyInLong(test)('the owner of the files', async () => {
    await runCommand('chown', ['-R', 'root', htdocs(shop)]);
    await running.host.restartPhp(shop);
    expect((await page(shop)).status).toBe(500);
    await expectRepaired(shop, /repair-shop: folders: .*htdocs belongs to 0:/);
    const { uid } = await stat(htdocs(shop, 'wp-config.php'));
    expect(uid).toBe((await stat(htdocs(shop))).uid);
    expect(uid).not.toBe(0);
    expect((await lstat(htdocs(shop, 'wp-load.php'))).uid).toBe(0);
  });

  onlyInLong(test)('modes that keep the website from working, and no others', async () => {
    await chmod(htdocs(shop, 'wp-config.php'), 0o400);
    await runCommand('mkdir', ['-m', '700', htdocs(shop, 'wp-content/uploads/private')]);
    const { uid } = await stat(htdocs(shop));
    await runCommand('chown', [`${uid}:${uid}`, htdocs(shop, 'wp-content/uploads/private')]);
    await chmod(htdocs(shop, 'wp-content'), 0);
    await expectRepaired(shop, /repair-shop: pages: The home page/);
    const mode = async (...path: string[]) => ((await stat(htdocs(shop, ...path))).mode & 0o777).toString(8);
    expect(await mode('wp-content')).toBe('701');
    expect(await mode('wp-config.php')).toBe('400');
    expect(await mode('wp-content/uploads/private')).toBe('700');
  });

  onlyInLong(test)('links into WordPress', async () => {
    const target = await readlink(htdocs(shop, 'wp-login.php'));
    await unlink(htdocs(shop, 'wp-login.php'));
    await unlink(htdocs(shop, 'wp-includes'));
    await symlink(target.replace(/[^/]*$/, 'nowhere'), htdocs(shop, 'wp-includes'));
    await expectRepaired(shop, /files: wp-includes is not a link to .*\n.*files: wp-login.php is not a link/);
  });

  onlyInLong(test)('the content of generated files', async () => {
    const home = layout().homeOf(shop.id);
    await writeFile(join(home, 'homeport.php'), '<?php // nothing');
    await rm(htdocs(shop, 'wp-content/object-cache.php'));
    await rm(htdocs(shop, 'wp-content/mu-plugins/homeport.php'));
    const without = ['wp-content/object-cache.php', 'wp-content/mu-plugins/homeport.php'];
    await expectRepaired(shop, /homeport.php has the wrong values[\s\S]*object-cache.php is missing/, {
      without,
    });
    await chmod(join(home, 'homeport.php'), 0o600);
    await expectRepaired(shop, /homeport.php has the wrong owner or mode/);
  });

  onlyInLong(test)('a deleted configuration of the web server', async () => {
    await rm(join(tablePaths(layout()).installs, `${shop.id}.json`));
    await expectRepaired(shop, /repair-shop: its configuration on disk was changed/);
  });

  onlyInLong(test)('PHP that still uses a home that was moved away', async () => {
    const home = layout().homeOf(shop.id);
    await rename(home, `${machine.folder}/moved`);
    await runCommand('cp', ['-a', `${machine.folder}/moved`, home]);
    await rm(`${machine.folder}/moved`, { recursive: true });
    expect((await page(shop)).status).not.toBe(200);
    await expectRepaired(shop, /php: It uses a home that was deleted or moved/);
  });

  test('a lost wp-config.php with the prefix of the tables', async () => {
    const file = htdocs(shop, 'wp-config.php');
    const before = await readFile(file, 'utf8');
    await rm(file);
    expect((await page(shop)).status).toBe(503);
    await expectRepaired(shop, /wp-config.php is missing. The tables begin with "xyz9_"/, {
      without: ['wp-config.php'],
    });
    expect(await readFile(file, 'utf8')).toContain("$table_prefix = 'xyz9_';");
    expect(await readFile(file, 'utf8')).not.toBe(before);
  });
});

describe('the customer’s own', () => {
  onlyInLong(test)('syntax error is named with its file and line, and left alone', async () => {
    const file = htdocs(shop, 'wp-config.php');
    const before = await readFile(file, 'utf8');
    const broken = before.replace("define('WP_DEBUG', false);", "define('WP_DEBUG' false);");
    await writeFile(file, broken);
    await expectStatus(shop, 500);
    const line = broken.split('\n').findIndex((text) => text.includes("'WP_DEBUG' false")) + 1;
    expect(await inspect(true)).toContainEqual(
      expect.objectContaining({
        thing: 'install repair-shop: pages',
        message: expect.stringMatching(
          new RegExp(`^The home page answers 500: syntax error.* in wp-config.php:${line}\\.$`),
        ),
        mended: false,
        remedy: expect.stringContaining('files of the customer'),
      }),
    );
    expect(await readFile(file, 'utf8')).toBe(broken);
    await writeFile(file, before);
    await expectStatus(shop, 200);
  });

  test('wrong table prefix is named, and opens no installation', async () => {
    const file = htdocs(shop, 'wp-config.php');
    const before = await readFile(file, 'utf8');
    await writeConfig(shop, before.replace("'xyz9_'", "'wp_'"));
    expect((await page(shop)).status).toBe(503);
    expect((await page(shop, '/wp-admin/install.php')).status).toBe(404);
    expect(textOf(await inspect(true))).toMatch(
      /sets the table prefix "wp_", which no table has. .* begin with "xyz9_"/,
    );
    expect(await readFile(file, 'utf8')).toContain("'wp_'");
    await writeConfig(shop, before);
    expect((await page(shop)).status).toBe(200);
  });
});

describe('a website is closed, and nothing is put in its place, after the loss of', () => {
  onlyInLong(test)('its files', async () => {
    const data = await dataOf(shop);
    await rename(htdocs(shop), `${machine.folder}/kept`);
    await expectClosed(shop, `The files of the website are missing from htdocs.`);
    await expect(stat(htdocs(shop, 'wp-config.php'))).rejects.toThrow('ENOENT');
    await expect(stat(htdocs(shop, 'wp-content'))).rejects.toThrow('ENOENT');
    // Neither a job of the control plane nor a start of the host opens it or makes anything.
    await running.host.apply({ ...shop, mail: { perHour: 5 } });
    await expectShut(shop);
    await running.stop();
    running = await machine.start();
    await expectShut(shop);
    await expect(stat(htdocs(shop, 'wp-config.php'))).rejects.toThrow('ENOENT');
    await rm(htdocs(shop), { recursive: true });
    await rename(`${machine.folder}/kept`, htdocs(shop));
    await expectOpened(shop, data);
  });

  onlyInLong(test)('its wp-content', async () => {
    const data = await dataOf(shop);
    await rename(htdocs(shop, 'wp-content'), `${machine.folder}/kept`);
    await expectClosed(shop, 'The folder wp-content is missing.');
    await expect(stat(htdocs(shop, 'wp-content'))).rejects.toThrow('ENOENT');
    await rename(`${machine.folder}/kept`, htdocs(shop, 'wp-content'));
    await expectOpened(shop, data);
  });

  test.each<[string, string]>(
    cases(
      [],
      [
        ['options', `The table wp_options is missing from the database`],
        ['users', `The table wp_users is missing from the database`],
      ],
    ),
  )('its table %s', async (table, message) => {
    const data = await dataOf(blog);
    const database = databaseOf(blog);
    await sql(`CREATE DATABASE kept; RENAME TABLE ${database}.wp_${table} TO kept.wp_${table}`);
    await running.host.purge(blog, 'object');
    await expectClosed(blog, `${message} ${database}.`);
    await sql(`RENAME TABLE kept.wp_${table} TO ${database}.wp_${table}; DROP DATABASE kept`);
    await running.host.purge(blog, 'object');
    await expectOpened(blog, data);
  });

  test('its database', async () => {
    const database = databaseOf(blog);
    const data = await dataOf(blog);
    const dump = ['--no-defaults', '--socket', layout().mariadbSocket, database];
    const { stdout } = await runCommand('mariadb-dump', dump);
    await sql(`DROP DATABASE ${database}`);
    await expectClosed(blog, `The database ${database} is missing.`);
    expect(await sql('SHOW DATABASES')).not.toContain(database);
    await sql(`CREATE DATABASE ${database}`);
    // WordPress's installer would be open to any visitor.
    await expectClosed(blog, `The database ${database} has no tables.`);
    await sql(`USE ${database}; ${stdout}`);
    await expectOpened(blog, data);
  });

  onlyInLong(test)('its home', async () => {
    const data = await dataOf(blog);
    const home = layout().homeOf(blog.id);
    await rename(home, `${machine.folder}/kept`);
    await expectClosed(blog, `The files of the website are missing from htdocs.`);
    await expect(stat(htdocs(blog, 'wp-config.php'))).rejects.toThrow('ENOENT');
    // The host may write to it at any time.
    await rename(home, `${machine.folder}/made`);
    await rename(`${machine.folder}/kept`, home);
    await rm(`${machine.folder}/made`, { recursive: true });
    await inspect(true);
    await expectOpened(blog, data);
  });
});

onlyInLong(test)('lost uploads are named while the website stays open', async () => {
  await rm(htdocs(blog, 'wp-content/uploads/photo.txt'));
  // As WordPress leaves it.
  await mkdir(htdocs(blog, 'wp-content/uploads/2026/11'), { recursive: true });
  const database = databaseOf(blog);
  await sql(`USE ${database}; INSERT INTO wp_posts (post_type, post_title, post_content, post_excerpt, to_ping, pinged, post_content_filtered)
    VALUES ('attachment', 'photo', '', '', '', '', '')`);
  expect(await inspect(true)).toEqual([
    {
      thing: 'install repair-blog: data',
      message: 'wp-content/uploads is empty, and the media library has 1 file.',
      mended: false,
      remedy: expect.stringContaining('backup'),
      backupOf: blog.id,
    },
  ]);
  expect((await page(blog)).status).toBe(200);
  await sql(`DELETE FROM ${database}.wp_posts WHERE post_type = 'attachment'`);
});

onlyInLong(test)(
  'an owner empties the database and installs WordPress again, and visitors never see the installation',
  async () => {
    const database = databaseOf(blog);
    const install = { id: blog.id, name: blog.name };
    const wp = async (...args: string[]) => running.host.runWpCli(install, args);
    expect(await wp('db', 'reset', '--yes')).toMatchObject({ exitStatus: 0 });
    await running.host.purge(install, 'object');
    const { status, headers, body } = await page(blog);
    expect(status).toBe(503);
    // The watch of websites takes other pages for maintenance.
    const answer = { status, body, location: null, isRedirect: false, certificateEndsAt: null };
    expect(faultOf({ ...answer, retryAfter: headers['retry-after'] ?? null }, new Date())).not.toBeNull();
    expect((await page(blog, '/wp-admin/install.php')).status).toBe(404);
    expect((await page(blog, '/wp-admin/setup-config.php')).status).toBe(404);
    // A change of the install meanwhile notices the loss.
    await running.host.apply(blog);
    await expectShut(blog);
    const options = ['--url=http://repair-blog.sites.test', '--title=Again', '--admin_user=again'];
    expect(
      await wp('core', 'install', ...options, '--admin_email=a@sites.test', '--skip-email'),
    ).toMatchObject({ exitStatus: 0 });
    await expect.poll(async () => (await page(blog)).status, { timeout: 90_000, interval: 500 }).toBe(200);
    expect(await sql(`SELECT user_login FROM ${database}.wp_users`)).toBe('again\n');
  },
);
