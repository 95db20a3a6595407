import { mkdirSync } from 'node:fs';
import { appendFile, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import Sqlite from 'better-sqlite3';
import { PLACEHOLDER } from '../../wordpress/placeholder.ts';
import type { PhpRequest, PhpResponse, PhpScript, PhpSite, PhpSites } from '../php/php-sites.ts';
import { DATABASE, PURGES } from './site.ts';

/** The last line of a whole script. */
const COMPLETED = '{"completed":true}\n';

/** Stands for PHP: runs nothing, does to folders what the scripts would do, and answers what a test says. */
export interface FakePhp extends PhpSites {
  requests: { site: PhpSite; request: PhpRequest; body: string | null }[];
  /** Names and arguments of the scripts. */
  scripts: { site: PhpSite; name: string; args: string[] }[];
  stopped: string[];
  answer: (request: PhpRequest, site: PhpSite) => Partial<PhpResponse> & { page?: string };
}

export function fakePhp(): FakePhp {
  const held = new Set<string>();
  const fake: FakePhp = {
    requests: [],
    scripts: [],
    stopped: [],
    answer: () => ({ page: `page ${fake.requests.length}` }),
    available: async () => ({ version: '8.4.12' }),
    async warmUp() {},
    running: 0,
    async request(site, request) {
      const body = request.body === null ? null : await text(request.body);
      fake.requests.push({ site, request, body });
      const { page = '', status = 200, headers = {}, body: given } = fake.answer(request, site);
      return {
        status,
        headers: { 'content-type': 'text/html; charset=UTF-8', ...headers },
        body: given ?? Readable.from([Buffer.from(page)]),
      };
    },
    async run(site, script) {
      const { name, args } = scriptOf(script);
      fake.scripts.push({ site, name, args });
      const output = await pretend(site, name);
      return { output, error: '', exit: 0 };
    },
    async stop(id) {
      fake.stopped.push(id);
    },
    async withoutProcess(id, work) {
      fake.stopped.push(id);
      held.add(id);
      try {
        return await work();
      } finally {
        held.delete(id);
      }
    },
    async atRest(id, work) {
      fake.stopped.push(id);
      return work();
    },
    isHeld: (id) => held.has(id),
    async close() {},
  };
  return fake;
}

/** Adds a purge as WordPress does when a page changes. */
export const askForPurge = (site: PhpSite, request: object): Promise<void> =>
  appendFile(join(site.private, PURGES), `${JSON.stringify(request)}\n`);

function scriptOf({ code }: PhpScript): { name: string; args: string[] } {
  const given = /base64_decode\('([^']+)'\)/.exec(code)?.[1];
  if (given === undefined) return { name: code.includes('VACUUM') ? 'copy' : 'cron', args: [] };
  const { argv } = JSON.parse(Buffer.from(given, 'base64').toString());
  const [name, ...args] = argv;
  return { name, args };
}

async function pretend(site: PhpSite, name: string): Promise<string> {
  const database = join(site.database, DATABASE);
  switch (name) {
    case 'install.php':
      makeDatabase(database);
      return COMPLETED;
    case 'replace-urls.php':
      return COMPLETED;
    case 'create-login.php':
      return JSON.stringify({ user: 'admin' });
    case 'copy':
      await copyFile(database, join(site.private, 'database-copy', DATABASE));
      return 'copied';
    case 'cron':
      return '\nnext:';
    default:
      return '';
  }
}

function makeDatabase(file: string): void {
  mkdirSync(join(file, '..'), { recursive: true });
  const database = new Sqlite(file);
  database.exec(`
    create table wp_options (option_name text, option_value text);
    create table wp_users (user_login text, user_pass text, user_email text, user_url text, user_registered text);
    create table wp_posts (guid text, post_content text, post_date text, post_date_gmt text, post_modified text, post_modified_gmt text);
    create table wp_comments (comment_author_url text, comment_content text, comment_date text, comment_date_gmt text);
  `);
  const add = database.prepare('insert into wp_options values (?, ?)');
  add.run('siteurl', PLACEHOLDER.origin);
  add.run('blogname', PLACEHOLDER.title);
  add.run('_transient_x', '1');
  database
    .prepare('insert into wp_users values (?, ?, ?, ?, ?)')
    .run('admin', 'x', PLACEHOLDER.email, PLACEHOLDER.origin, '');
  database.close();
}

/** A folder that is a WordPress as far as a core must be one. */
export async function smallWordPress(folder: string, version: string): Promise<string> {
  for (const inner of ['wp-admin/includes', 'wp-includes', 'wp-content/themes/plain']) {
    await mkdir(join(folder, inner), { recursive: true });
  }
  const files = {
    'index.php': '<?php',
    'license.txt': 'GPL',
    'wp-load.php': '<?php',
    'wp-login.php': '<?php',
    'wp-settings.php': '<?php',
    'wp-cron.php': '<?php',
    'wp-admin/includes/upgrade.php': '<?php',
    'wp-content/themes/plain/style.css': 'body{}',
    'wp-includes/script.js': 'core()',
    'wp-includes/version.php': `<?php\n$wp_version = '${version}';\n`,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}
