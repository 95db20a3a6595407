import { execFile } from 'node:child_process';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import {
  dupArchiveOf,
  type Entry,
  tarOf,
  wpressOf,
  zipOf,
} from '../../src/hosting/websites/imports/archives.fixture.ts';
import { text } from '../client.ts';
import { visit } from '../edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { cases } from '../rounds.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

/** One website, imported from every format, must look to its visitors as it did on its former host. */
const run = promisify(execFile);

interface Install {
  id: string;
  name: string;
  domain: string;
}

let machine: TestMachine;
let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let former: Install;
let shop: Install;
let scratch: string;
/** The answers of the former website for each path. */
let expected: Record<string, unknown>;

const PATHS = [
  '/',
  '/sample-page/',
  '/feed/',
  '/wp-login.php',
  '/wp-json/wp/v2/pages/2',
  '/wp-includes/css/dashicons.min.css',
  '/wp-content/themes/own/style.css',
  '/wp-content/uploads/2026/photo.png',
  '/wp-content/uploads/latest.png',
];

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'formats-'));
  machine = await createPreparedMachine();
  await machine.start();
  homeport = await startTestHomeport({ environment: machine.environment });
  ({ accountId, owner } = await homeport.ownedAccount());
  former = await wordpress();
  shop = await wordpress();
  await makeFormer();
  expected = await seen(former);
  expect(expected).toMatchObject(Object.fromEntries(PATHS.map((path) => [path, { status: 200 }])));
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.remove();
  if (scratch) await rm(scratch, { recursive: true });
});

async function wordpress(): Promise<Install> {
  const name = installName();
  const made = await owner.client.post('/installs', { name, account_id: accountId });
  await homeport.idle();
  return { id: text(made.body, 'id'), name, domain: `${name}.sites.test` };
}

const homeOf = ({ id }: Install) => `${machine.folder}/installs/${id}`;
const originOf = ({ domain }: Install) => `http://${domain}:${machine.config.edgeHttp.port}`;
const client = (program: string, { id }: Install, ...args: string[]) => {
  const socket = linuxLayout(machine.folder, machine.runFolder).mariadbSocket;
  return run(program, [`--socket=${socket}`, ...args, `hp_${id.replaceAll('-', '')}`], { maxBuffer: 1e8 });
};

/** A website with its own theme, an upload, links, and addresses in every form. */
async function makeFormer(): Promise<void> {
  const content = join(homeOf(former), 'htdocs/wp-content');
  const own = originOf(former);
  const files: Record<string, string | Buffer> = {
    'themes/own/style.css': '/* Theme Name: Own */\nbody { color: teal }\n',
    'themes/own/functions.php':
      "<?php add_action('wp_enqueue_scripts', static fn() => wp_enqueue_style('own', get_stylesheet_uri()));",
    'themes/own/index.php': `<!doctype html><html><head><?php wp_head(); ?></head><body>
<?php echo get_theme_mod('logo'), get_post_meta(2, '_builder', true); while (have_posts()) { the_post(); the_title('<h1>', '</h1>'); the_content(); } wp_footer(); ?></body></html>`,
    'uploads/2026/photo.png': Buffer.from('89504e470d0a1a0a', 'hex'),
  };
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(content, path)), { recursive: true });
    await writeFile(join(content, path), bytes);
  }
  await symlink('2026/photo.png', join(content, 'uploads/latest.png'));
  const photo = `${own}/wp-content/uploads/2026/photo.png`;
  const mods = `a:1:{s:4:"logo";s:${photo.length}:"${photo}";}`;
  const builder = JSON.stringify({ url: photo, next: encodeURIComponent(photo) }).replaceAll(
    '/',
    String.raw`\/`,
  );
  const quoted = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  await client(
    'mariadb',
    former,
    '-e',
    `UPDATE wp_options SET option_value = 'own' WHERE option_name IN ('template', 'stylesheet');
     REPLACE INTO wp_options (option_name, option_value) VALUES ('theme_mods_own', ${quoted(mods)});
     REPLACE INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (2, '_builder', ${quoted(builder)});
     UPDATE wp_posts SET post_content = ${quoted(`<img src="${photo}"> <a href="${own}/feed/">über</a>`)} WHERE ID = 2;`,
  );
  await run('chown', ['-R', '-h', `${former.name}:${former.name}`, content]);
  await run('chmod', ['-R', 'u=rwX,go=rX', content]);
  await owner.client.post(`/installs/${former.id}/purge_cache`, { type: 'all' });
  await homeport.idle();
}

/** The pages that visitors of a website get, with the name of the website and of its pages' keys left out. */
async function seen(install: Install): Promise<Record<string, unknown>> {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const hosting = { edgeHttp, edgeHttps, ssh: sshListen };
  const answers = PATHS.map(async (path) => {
    const { status, headers, body } = await visit({ hosting }, `http://${install.domain}${path}`);
    const shown = body
      .replaceAll(`${install.domain}:${edgeHttp.port}`, 'WEBSITE')
      .replaceAll(`${install.domain}%3A${edgeHttp.port}`, 'WEBSITE')
      .replaceAll(install.domain, 'NAME')
      // The guid of a post is no address, and stays.
      .replaceAll(/<guid.*<\/guid>|"guid":\{.*?\}/g, '')
      .replaceAll(/"nonce":"\w+"|<lastBuildDate>.*<\/lastBuildDate>/g, '');
    return [path, { status, type: headers['content-type'], body: shown }];
  });
  return Object.fromEntries(await Promise.all(answers));
}

/** The files of the former website without links to the platform's WordPress, by path. */
async function contentOf(): Promise<Entry[]> {
  const content = join(homeOf(former), 'htdocs/wp-content');
  const entries: Entry[] = [];
  for (const found of await readdir(content, { recursive: true, withFileTypes: true })) {
    const path = join(found.parentPath, found.name);
    const name = relative(content, path);
    if (found.isFile()) {
      const { mode } = await lstat(path);
      entries.push({ name, content: await readFile(path), mode });
    } else if (found.isSymbolicLink() && name.startsWith('uploads/')) {
      entries.push({ name, type: 'symlink', linkname: '2026/photo.png' });
    }
  }
  return entries;
}

const below = (folder: string, entries: readonly Entry[]) =>
  entries.map((entry) => ({ ...entry, name: `${folder}/${entry.name}` }));
const filesOf = (entries: readonly Entry[]) =>
  entries.map(({ name, type, linkname = '', content = '' }) =>
    type === 'symlink' ? { name, content: linkname, mode: 0o120777 } : { name, content },
  );
/** For formats without links. */
const withoutLinks = (entries: readonly Entry[]): Record<string, string | Buffer> => {
  const files = new Map(
    entries.flatMap(({ name, content }) => (content === undefined ? [] : [[name, content]])),
  );
  const photo = files.get('uploads/2026/photo.png') ?? '';
  return Object.fromEntries([...files, ['uploads/latest.png', photo]]);
};
const recorded = (prefix: string, files: Record<string, string | Buffer>) =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [`${prefix}${name}`, content]));
const listed = (files: Record<string, string | Buffer>) =>
  Object.entries(files).map(([name, content]) => ({ name, content }));

interface Parts {
  content: Entry[];
  dump: string;
  config: Entry;
}

const UPDRAFT = 'backup_2026-01-31-1000_Former_0123456789ab';
const CPANEL = 'backup-1.31.2026_10-00-00_ada';

/** The archives of each format, by the names that they have in the private folder. The first is imported. */
const FORMATS: Record<string, (parts: Parts) => Promise<Record<string, Buffer>>> = {
  'tar.gz': async ({ content, dump, config }) => ({
    'site.tar.gz': gzipSync(
      await tarOf([{ name: 'dump.sql', content: dump }, config, ...below('wp-content', content)]),
    ),
  }),
  zip: async ({ content, dump, config }) => ({
    'site.zip': zipOf(
      filesOf([{ name: 'dump.sql', content: dump }, config, ...below('wp-content', content)]),
    ),
  }),
  'All-in-One WP Migration': async ({ content, dump }) => ({
    'site.wpress': wpressOf({
      'package.json': '{}',
      'database.sql': dump
        .replaceAll('`wp_', '`SERVMASK_PREFIX_')
        .replaceAll(/'wp_(?=user_roles|capabilities|user_level)/g, "'SERVMASK_PREFIX_"),
      ...withoutLinks(content),
    }),
  }),
  UpdraftPlus: async ({ content, dump }) => {
    const part = (name: string) =>
      zipOf(
        listed(
          Object.fromEntries(
            Object.entries(withoutLinks(content)).filter(([path]) => path.startsWith(`${name}/`)),
          ),
        ),
      );
    return {
      [`${UPDRAFT}-db.gz`]: gzipSync(dump),
      [`${UPDRAFT}-themes.zip`]: part('themes'),
      [`${UPDRAFT}-uploads.zip`]: part('uploads'),
    };
  },
  cPanel: async ({ content, dump, config }) => ({
    [`${CPANEL}.tar.gz`]: gzipSync(
      await tarOf([
        { name: `${CPANEL}/homedir/www`, type: 'symlink', linkname: 'public_html' },
        ...below(`${CPANEL}/homedir/public_html`, [config, ...below('wp-content', content)]),
        { name: `${CPANEL}/homedir/mail/cur/1`, content: 'mail' },
        { name: `${CPANEL}/mysql.sql`, content: "GRANT USAGE ON *.* TO 'ada'@'localhost';\n" },
        { name: `${CPANEL}/mysql/ada_wp.sql`, content: dump },
        { name: `${CPANEL}/mysql/ada_other.sql`, content: 'CREATE TABLE a (b INT);' },
        {
          name: `${CPANEL}/userdata/former.example`,
          content: 'documentroot: /home/ada/public_html\nhomedir: /home/ada\n',
        },
      ]),
    ),
  }),
  Plesk: async ({ content, dump, config }) => ({
    'backup_former.example_2601311000.tar': await tarOf([
      {
        name: 'backup_user-data_2601311000.tgz',
        content: gzipSync(await tarOf(below('httpdocs', [config, ...below('wp-content', content)]))),
      },
      {
        name: 'databases/ada_wp_1/backup_sqldump_2601311000.tgz',
        content: gzipSync(await tarOf([{ name: 'ada_wp', content: dump }])),
      },
    ]),
  }),
  'Duplicator (.zip)': async ({ content, dump, config }) => ({
    'former_archive.zip': zipOf([
      { name: 'dup-installer/dup-database__0123-456.sql', content: dump },
      ...filesOf([config, ...below('wp-content', content)]),
    ]),
  }),
  'Duplicator (.daf)': async ({ content, dump, config }) => ({
    'former_archive.daf': dupArchiveOf({
      'dup-installer/dup-database__0123-456.sql': dump,
      'wp-config.php': config.content ?? '',
      ...recorded('wp-content/', withoutLinks(content)),
    }),
  }),
  Homeport: async () => ({ 'archive.tar.gz': await readFile(await ownArchive()) }),
};

/** An archive of a backup of the former website, as its owner downloads it. */
async function ownArchive(): Promise<string> {
  const backup = await owner.client.post(`/installs/${former.id}/backups`, {
    description: 'to move',
    notification_emails: [],
  });
  await homeport.idle();
  const { headers } = await owner.client.post(`/installs/${former.id}/archives`, {
    backup_id: text(backup.body, 'id'),
  });
  await homeport.idle();
  const { body } = await owner.client.get(String(headers.location).replace('/v1', ''));
  expect(body).toMatchObject({ status: 'succeeded' });
  const folder = join(linuxLayout(machine.folder, machine.runFolder).archives, former.id);
  const [name = ''] = await readdir(folder);
  return join(folder, name);
}

async function importWebsite(body: object): Promise<unknown> {
  const asked = await owner.client.post(`/installs/${shop.id}/imports`, body);
  expect(asked.status).toBe(202);
  await homeport.idle();
  return (await owner.client.get(String(asked.headers.location).replace('/v1', ''))).body;
}

async function upload(archives: Record<string, Buffer>): Promise<string> {
  const names = Object.keys(archives);
  for (const [name, bytes] of Object.entries(archives)) {
    const place = join(homeOf(shop), 'private', name);
    await writeFile(place, bytes);
    await run('chown', [`${shop.name}:${shop.name}`, place]);
  }
  return `private/${names[0]}`;
}

// src/hosting/websites/imports reads all formats. These differ most in what surrounds the website.
const FEW = ['All-in-One WP Migration', 'cPanel', 'Homeport'];
test.each(cases(FEW, Object.entries(FORMATS)))(
  'the website looks the same after an import from %s',
  async (_format, archivesOf) => {
    const { stdout: dump } = await client('mariadb-dump', former, '--skip-comments');
    const config = {
      name: 'wp-config.php',
      content: "<?php\ndefine('DB_NAME', 'ada_wp');\n$table_prefix = 'wp_';\n",
    };
    const path = await upload(await archivesOf({ content: await contentOf(), dump, config }));
    expect(await importWebsite({ source: 'file', path, create_checkpoint: false })).toMatchObject({
      status: 'succeeded',
      error: null,
    });
    expect(await seen(shop)).toEqual(expected);
    const { stdout } = await run('find', [
      ...[join(homeOf(shop), 'htdocs'), '-not', '-type', 'l'],
      ...['(', '-perm', '/7022', '-o', '-not', '-perm', '-u=r', ')'],
    ]);
    expect(stdout).toBe('');
  },
);
