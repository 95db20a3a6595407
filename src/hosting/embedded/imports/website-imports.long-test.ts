import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { certificateMaker } from '../../../../test/servers/certificate-maker.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { BrokenWebsiteError } from '../../contract/errors.ts';
import type { InstallState } from '../../contract/install-state.ts';
import { type Asked, ask, siteState } from '../../policy/edge.fixture.ts';
import { SEEN } from '../../runtime/wasm/library-script.ts';
import { tarOf } from '../../websites/imports/archives.fixture.ts';
import {
  IMPORT_LIMITS,
  type ImportingWebsite,
  importCases,
} from '../../websites/imports/import-cases.fixture.ts';
import { startHost, type TestHost } from '../embedded-host.fixture.ts';
import { createEmbeddedHost } from '../embedded-host.ts';
import { layoutOf } from '../host-folder/layout.ts';
import { announceDatabase } from '../wordpress/adopted-database.ts';
import { realPhpThat, realWordPress } from '../wordpress/real-wordpress.fixture.ts';
import { DATABASE } from '../wordpress/site.ts';

let site: TestHost;
let shop: InstallState;
/** The port to which the website may connect. */
let reachable: number | undefined;

const AUTHORITY = 'authority.pem';
const DOWNLOAD = randomUUID();

async function wpCli(...args: string[]): Promise<string> {
  const outcome = await site.host.runWpCli(shop, args);
  if (!('exitStatus' in outcome) || outcome.exitStatus !== 0)
    throw new Error(JSON.stringify(outcome).slice(0, 2_000));
  return outcome.stdout;
}

/** In a file, because the output of a command is limited. */
async function dump(): Promise<string> {
  await wpCli('db', 'export', 'present.sql');
  return readFile(site.file(shop, '.private/present.sql'), 'utf8');
}

importCases(async (): Promise<ImportingWebsite> => {
  // However busy the machine is.
  const checkPace = { pageMs: HOUR_MS, patienceMs: HOUR_MS, wholeMs: HOUR_MS, pauseMs: 10 };
  const createPhp = realPhpThat({ mayConnect: (_address, port) => port === reachable });
  const importAuthority = `${SEEN.sqlite}/${AUTHORITY}`;
  site = await startHost({
    wordpress: realWordPress({ checkPace, createPhp, importAuthority }),
    limits: IMPORT_LIMITS,
  });
  shop = { ...siteState('shop', ['shop.test'], { primaryHostname: 'shop.test' }), runtime: 'wordpress' };
  await site.host.apply(shop);
  return {
    install: shop,
    imports: site.host,
    origin: `http://shop.test:${site.host.addresses?.edgeHttp.port}`,
    root: site.file(shop, ''),
    async upload(name, bytes) {
      const file = site.file(shop, `.private/${name}`);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, bytes);
      return `private/${name}`;
    },
    dump,
    inWordPress: (code) => wpCli('eval', code),
    async title(tablePrefix) {
      const database = new Sqlite(join(layoutOf(site.folder).databaseOf(shop.id), DATABASE), {
        readonly: true,
      });
      try {
        const title = `SELECT option_value FROM ${tablePrefix}options WHERE option_name = 'blogname'`;
        return String(database.prepare(title).pluck().get());
      } finally {
        database.close();
      }
    },
    stop: () => site.close(),
  };
});

/** Answers of the edge. */
const visit = (path: string, asked?: Asked) => site.http('shop.test', path, asked);

/** Puts an archive with a dump of the present website, whose tables are named `old_…` in `sql`, into its private folder. */
async function pack(sql: string, files: Record<string, string> = {}): Promise<{ file: string }> {
  const present = await dump();
  const prefix = /CREATE TABLE `(\w+)options`/.exec(present)?.[1] ?? '';
  const entries = Object.entries({
    'wp-content/index.php': '<?php',
    ...files,
    'dump.sql': `${present}\n${sql.replaceAll('old_', prefix)}`,
  });
  const archive = await tarOf(entries.map(([name, content]) => ({ name, content })));
  await site.write(shop, '.private/packed.tar.gz', gzipSync(archive));
  return { file: 'private/packed.tar.gz' };
}

test('visitors and administrators see the imported website', async () => {
  const { notes } = await site.host.importWebsite(
    shop,
    await pack(
      `UPDATE old_options SET option_value = 'Moved in' WHERE option_name = 'blogname';
CREATE VIEW old_titles AS SELECT post_title FROM old_posts;
DELIMITER ;;
CREATE TRIGGER old_log AFTER INSERT ON old_posts FOR EACH ROW BEGIN SET @a = 1; END;;
DELIMITER ;
`,
      { 'wp-content/uploads/a.css': 'body { color: teal }', 'wp-content/uploads/b.txt': 'an upload' },
    ),
  );
  expect(notes).toEqual([
    expect.stringMatching(
      /^Not imported: view \w+titles, trigger \w+log\. The database of this install is SQLite, which cannot have/,
    ),
  ]);
  expect(await visit(`/?${randomUUID()}`)).toMatchObject({
    status: 200,
    text: expect.stringContaining('<title>Moved in'),
  });
  expect(await visit('/wp-content/uploads/a.css')).toMatchObject({
    status: 200,
    headers: { 'content-type': expect.stringContaining('text/css') },
  });
  expect((await visit('/wp-content/uploads/b.txt')).text).toBe('an upload');
  expect((await visit('/wp-content/themes/twentytwentyfive/style.css')).status).toBe(200);
  expect((await visit('/.private/packed.tar.gz')).status).toBe(404);
  const secret = await readFile(site.file(shop, '.private/wordpress-admin.txt'), 'utf8');
  const form = { log: 'admin', pwd: /Password: +(\S+)/.exec(secret)?.[1] ?? '', testcookie: '1' };
  const signedIn = await visit('/wp-login.php', {
    method: 'POST',
    headers: {
      cookie: 'wordpress_test_cookie=WP%20Cookie%20check',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams(form).toString(),
  });
  expect(signedIn).toMatchObject({
    status: 302,
    headers: { location: expect.stringContaining('/wp-admin/') },
  });
  const cookie = (signedIn.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
  const dashboard = await visit('/wp-admin/', { headers: { cookie } });
  expect(dashboard.status).toBe(200);
  expect(dashboard.text).toContain('wp-admin-bar');
});

test('a website that does not answer is reported, and its record ends with a restore', async () => {
  const backupId = randomUUID();
  await site.host.snapshot(shop, backupId);
  const source = await pack('', {
    'wp-content/mu-plugins/breaking.php':
      '<?php if (PHP_SAPI !== "cli") { http_response_code(500); exit("broken"); }',
  });
  const importId = randomUUID();
  await expect(site.host.importWebsite(shop, source, { importId })).rejects.toThrow(BrokenWebsiteError);
  expect(await site.host.lastImport(shop)).toBe(importId);
  await site.host.restore(shop, backupId);
  expect(await site.host.lastImport(shop)).toBeNull();
  expect((await visit(`/?${randomUUID()}`)).text).toContain('<title>Moved in');
});

test('downloads an archive by HTTPS, from addresses that the website may reach', async () => {
  const make = certificateMaker(new Date());
  const root = await make({ name: 'authority' });
  const leaf = await make({ name: 'localhost', names: ['localhost'] }, root);
  const key = leaf.key.export({ type: 'pkcs8', format: 'pem' });
  const { file } = await pack(
    "UPDATE old_options SET option_value = 'Downloaded' WHERE option_name = 'blogname';",
  );
  const archive = await readFile(site.file(shop, file.replace('private', '.private')));
  const server = createServer({ key, cert: leaf.pem }, (request, response) => {
    if (request.url === '/a.tar.gz?signed=1') response.end(archive);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const from = (url: string, options = {}) => site.host.importWebsite(shop, { url }, options);
  try {
    // PHP trusts it where it sees the SQLite plugin.
    const { sqlite } = layoutOf(site.folder);
    for (const name of await readdir(sqlite)) await writeFile(join(sqlite, name, AUTHORITY), root.pem);
    await expect(from(`https://localhost:${port}/a.tar.gz?signed=1`)).rejects.toThrow(
      'The archive could not be downloaded from localhost',
    );
    reachable = port;
    await expect(from(`https://localhost:${port}/absent`)).rejects.toThrow('the server answers 404');
    await from(`https://localhost:${port}/a.tar.gz?signed=1`, { importId: DOWNLOAD });
    expect((await visit(`/?${randomUUID()}`)).text).toContain('<title>Downloaded');
  } finally {
    server.close();
  }
});

test('a host that was killed while it put a website in place has the imported one', async () => {
  // As it is between the exchange of the folders and that of the databases.
  const layout = layoutOf(site.folder);
  const restored = join(layout.filesOf(shop.id), '.private', 'database');
  await rename(layout.databaseOf(shop.id), restored);
  await announceDatabase(layout.filesOf(shop.id), restored);
  await site.host.stop();
  await mkdir(join(layout.importOf(shop.id), 'files'), { recursive: true });
  const host = createEmbeddedHost(site.options);
  await host.start();
  try {
    expect(existsSync(layout.importOf(shop.id))).toBe(false);
    expect(await host.lastImport(shop)).toBe(DOWNLOAD);
    const { text } = await ask('http', host.addresses?.edgeHttp.port ?? 0, 'shop.test', '/');
    expect(text).toContain('<title>Downloaded');
  } finally {
    await host.stop();
  }
});
