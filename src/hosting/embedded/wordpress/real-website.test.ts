import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type OutgoingHttpHeaders } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onlyInLong } from '../../../../test/rounds.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { DATABASE_PATH } from '../../contract/database-access.ts';
import { RefusedImportError } from '../../contract/errors.ts';
import type { InstallState } from '../../contract/install-state.ts';
import { decoded, siteState } from '../../policy/edge.fixture.ts';
import { cookieOf } from '../../websites/database/database-cases.fixture.ts';
import { tarOf } from '../../websites/imports/archives.fixture.ts';
import type { TestHost } from '../embedded-host.fixture.ts';
import { layoutOf } from '../host-folder/layout.ts';
import { startWordPressHost } from './prepared-wordpress.fixture.ts';
import { cheapestPhp } from './real-wordpress.fixture.ts';
import { databaseNameOf } from './site.ts';

/**
 * Guards of a website with real WordPress, one quick test each. The files `.long-test.ts` of this host have the variants, and
 * test/operations what visitors see of other operations. One website goes through all, so each test needs those before it.
 */
let site: TestHost;
let shop: InstallState;

beforeAll(async () => {
  // However busy the machine is.
  const checkPace = { pageMs: HOUR_MS, patienceMs: HOUR_MS, wholeMs: HOUR_MS, pauseMs: 10 };
  site = await startWordPressHost({ checkPace, createPhp: cheapestPhp });
  shop = { ...siteState('shop', ['shop.test'], { primaryHostname: 'shop.test' }), runtime: 'wordpress' };
  await site.host.apply(shop);
  // Nothing answers in place of wordpress.org, and its pages would wait for that.
  const offline = `<?php add_filter('pre_http_request', fn () => new WP_Error('offline'));`;
  await site.write(shop, 'wp-content/mu-plugins/offline.php', offline);
});
afterAll(() => site?.close());

/** A page that PHP makes. */
const page = (path: string) => site.http('shop.test', `${path}?${randomUUID()}`);

async function wpCli(...args: string[]): Promise<string> {
  const outcome = await site.host.runWpCli(shop, args);
  if (!('exitStatus' in outcome) || outcome.exitStatus !== 0) throw new Error(JSON.stringify(outcome));
  return outcome.stdout;
}

async function backUp(): Promise<string> {
  const id = randomUUID();
  await site.host.snapshot(shop, id);
  return id;
}

test('no visitor reaches the installation of WordPress, and no plugin changes WordPress', async () => {
  expect((await page('/wp-admin/install.php')).status).toBe(404);
  const code = `<?php echo json_encode(array_map(fn ($file) => @file_put_contents($file, 'x'), ['wp-load.php', 'wp-includes/version.php', 'own.txt']));`;
  await site.write(shop, 'writes.php', code);
  expect(JSON.parse((await page('/writes.php')).text)).toEqual([false, false, 1]);
});

// Of HTTP/2 itself, without WordPress, the edge has tests.
onlyInLong(test)('HTTP/2 carries a page with its stylesheet, a sign-in, wp-admin and an upload', async () => {
  await wpCli(
    'user',
    'create',
    'editor',
    'editor@shop.test',
    '--role=editor',
    '--user_pass=long-enough-word',
  );
  const port = site.host.addresses?.edgeHttps.port ?? 0;
  const session = connect(`https://127.0.0.1:${port}`, {
    servername: 'shop.test',
    rejectUnauthorized: false,
  });
  const ask = async (path: string, headers: OutgoingHttpHeaders = {}, body?: string | Buffer) => {
    const method = body === undefined ? 'GET' : 'POST';
    const stream = session.request({
      ':method': method,
      ':path': path,
      ':authority': 'shop.test',
      ...headers,
    });
    stream.end(body);
    const [head] = await once(stream, 'response');
    const bytes = await buffer(stream);
    const coding = head['content-encoding'];
    const text = (coding === undefined ? bytes : decoded(bytes, coding)).toString();
    return { status: head[':status'], cookies: head['set-cookie'] ?? [], coding, text };
  };
  try {
    const front = await ask('/', { 'accept-encoding': 'br' });
    expect(front).toMatchObject({ status: 200, coding: 'br', text: expect.stringContaining('</html>') });
    const login = await ask('/wp-login.php');
    const link = /rel=['"]stylesheet['"][^>]*href=['"]https?:\/\/[^/]+([^'"]+)/.exec(login.text)?.[1] ?? '';
    const style = link.replaceAll('&#038;', '&').replaceAll('&amp;', '&');
    for (const path of [style, '/wp-includes/css/dashicons.min.css']) {
      expect(await ask(path, { 'accept-encoding': 'gzip, br' })).toMatchObject({
        ...{ status: 200, coding: expect.stringMatching('gzip|br'), text: expect.stringContaining('{') },
      });
    }

    const form = { 'content-type': 'application/x-www-form-urlencoded', cookie: 'wordpress_test_cookie=x' };
    const signedIn = await ask('/wp-login.php', form, 'log=editor&pwd=long-enough-word&testcookie=1');
    expect(signedIn.status).toBe(302);
    const cookie = signedIn.cookies.map((one: string) => one.split(';')[0]).join('; ');
    const media = await ask('/wp-admin/media-new.php', { cookie });
    expect(media).toMatchObject({ status: 200, text: expect.stringContaining('Upload') });

    const nonce = /name="_wpnonce" value="([0-9a-f]+)"/.exec(media.text)?.[1] ?? '';
    const parts = { name: 'over-http2.txt', action: 'upload-attachment', _wpnonce: nonce };
    const upload = new FormData();
    for (const [name, value] of Object.entries(parts)) upload.set(name, value);
    const content = 'over HTTP/2 '.repeat(50_000);
    upload.set('async-upload', new File([content], 'over-http2.txt', { type: 'text/plain' }));
    const sent = new Response(upload);
    const type = sent.headers.get('content-type') ?? '';
    const stored = await ask(
      '/wp-admin/async-upload.php',
      { cookie, 'content-type': type },
      Buffer.from(await sent.arrayBuffer()),
    );
    expect(JSON.parse(stored.text)).toMatchObject({ success: true, data: { filename: 'over-http2.txt' } });
    const uploads = await readdir(site.file(shop, 'wp-content/uploads'), { recursive: true });
    const [path = ''] = uploads.filter((one) => one.endsWith('over-http2.txt'));
    expect(await ask(`/wp-content/uploads/${path}`)).toMatchObject({ status: 200, text: content });
  } finally {
    session.destroy();
  }
});

test('a link to the database opens a session once, which reaches no other database and takes no foreign form', async () => {
  // PHP has the machine's clock.
  site.clock.advance(Date.now() - site.clock.now().getTime());
  const link = await site.host.createDatabaseLink(shop);
  if ('refused' in link) throw new Error(link.reason);
  const path = `${DATABASE_PATH}?token=${link.token}`;
  const opened = await site.http('shop.test', path);
  expect(opened.status).toBe(200);
  expect((await site.http('shop.test', path)).status).toBe(403);
  const cookie = cookieOf(opened);
  const ask = (query: Record<string, string>, method = 'GET', body?: string) =>
    site.http('shop.test', `${DATABASE_PATH}index.php?${new URLSearchParams(query).toString()}`, {
      ...{ method, headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' } },
      ...(body === undefined ? {} : { body }),
    });
  const database = databaseNameOf(shop.id);
  const first = await ask({ route: '/database/structure', db: database });
  expect(first).toMatchObject({ status: 200, text: expect.stringContaining('wp_options') });
  const statement = "ATTACH DATABASE '/database/other.sqlite' AS other";
  const form = { server: '1', db: database, sql_query: statement, ajax_request: 'true' };
  const foreign = new URLSearchParams(form).toString();
  expect((await ask({ route: '/sql' }, 'POST', foreign)).status).toBe(403);
  const token = /token:"([0-9a-f]+)"/.exec(first.text)?.[1] ?? '';
  const own = new URLSearchParams({ ...form, token }).toString();
  expect((await ask({ route: '/import' }, 'POST', own)).text).toContain('MySQL said');
});

test('a plugin that breaks a page is rolled back to the checkpoint', async () => {
  const code = `add_action('template_redirect', static fn() => throw new Error('broken in front'));`;
  await site.write(shop, 'wp-content/plugins/front/front.php', `<?php\n/* Plugin Name: Front */\n${code}\n`);
  const change = { kind: 'plugin', id: 'front', source: null, status: 'active', autoUpdate: null } as const;
  const order = { changeId: randomUUID(), checkpointId: await backUp(), change, pages: [] };
  expect(await site.host.changeItem(shop, order)).toEqual({
    rolledBack: expect.stringMatching(/^the home page answers 500, and 200 before: .*broken in front/),
  });
  expect((await page('/')).status).toBe(200);
});

test('an import replaces the website, and a refused one changes nothing', async () => {
  await wpCli('db', 'export', 'present.sql');
  const present = await readFile(site.file(shop, '.private/present.sql'), 'utf8');
  const importOf = async (title: string, sql = '') => {
    const dump = `${present}\nUPDATE wp_options SET option_value = '${title}' WHERE option_name = 'blogname';\n${sql}`;
    const archive = await tarOf([
      { name: 'wp-content/uploads/photo.txt', content: `a photo of ${title}` },
      { name: 'dump.sql', content: dump },
    ]);
    await writeFile(site.file(shop, '.private/packed.tar.gz'), gzipSync(archive));
    return site.host.importWebsite(shop, { file: 'private/packed.tar.gz' });
  };
  await importOf('Moved in');
  expect((await page('/')).text).toContain('<title>Moved in');
  await expect(importOf('Refused', 'INSERT INTO wp_absent VALUES (1);\n')).rejects.toThrow(
    RefusedImportError,
  );
  expect((await page('/')).text).toContain('<title>Moved in');
  expect((await site.http('shop.test', '/wp-content/uploads/photo.txt')).text).toBe('a photo of Moved in');
});

test('a website without a database is closed, gets no empty one, and comes back from a backup', async () => {
  const backup = await backUp();
  const database = layoutOf(site.folder).databaseOf(shop.id);
  await site.host.restartPhp(shop);
  await rm(database, { recursive: true });
  expect((await page('/')).status).toBe(503);
  await expect(backUp()).rejects.toThrow('Data of the website is missing');
  await site.host.apply(shop);
  expect(existsSync(database)).toBe(false);
  await site.host.restore(shop, backup);
  expect((await page('/')).text).toContain('<title>Moved in');
});
