import { chmod, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../policy/edge.fixture.ts';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';

/** A second, and what a request takes. */
const NOTICED_WITHIN_MS = 1_300;

const alpha = siteState('alpha', ['alpha.test']);
const beta = siteState('beta', ['beta.test']);

let server: TestServer;
let httpPort: number;
beforeAll(async () => {
  server = await startServer();
  httpPort = server.options.edgeHttp.port;
  await server.web.start([await server.makeInstall(alpha), await server.makeInstall(beta)]);
  await server.write(alpha, 'who.txt', 'alpha');
  await server.write(beta, 'who.txt', 'beta');
});
afterAll(() => server.close());

describe('files', () => {
  test('have types, conditions, ranges, and may be kept for a while', async () => {
    await server.write(alpha, 'style.css', 'body{}'.repeat(200));
    const answer = await server.http('alpha.test', '/style.css');
    expect(answer.headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'max-age=604800',
      'x-content-type-options': 'nosniff',
    });
    const etag = String(answer.headers.etag);
    expect(
      (await server.http('alpha.test', '/style.css', { headers: { 'If-None-Match': etag } })).status,
    ).toBe(304);
    const part = await server.http('alpha.test', '/style.css', { headers: { Range: 'bytes=0-3' } });
    expect(part).toMatchObject({ status: 206, text: 'body' });
    const small = await server.http('alpha.test', '/style.css', { headers: { 'Accept-Encoding': 'gzip' } });
    expect(small.headers['content-encoding']).toBe('gzip');
  });

  test.each(['/.htaccess', '/.git/config', '/a/.hidden/x', '/%2ehtaccess', '/a/%2e%2e/.env'])(
    'hidden: %s',
    async (path) => {
      await server.write(alpha, '.htaccess', 'secret');
      await server.write(alpha, '.git/config', 'secret');
      await server.write(alpha, 'a/.hidden/x', 'secret');
      await server.write(alpha, '.env', 'secret');
      const answer = await server.http('alpha.test', path);
      expect(answer.status).toBe(404);
      expect(answer.text).toContain('Page not found');
    },
  );

  test.each([
    '/wp-content/uploads/evil.php',
    '/wp-content/uploads/2026/01/evil.PHP',
    '/wp-content/uploads/evil.php/x',
    '/wp-content/uploads/a%0ab.php',
    '/wp-content/cache/evil.phtml',
    '/old.inc',
    '/wp-config.php.bak',
    '/index.php~',
    '/index.PHP',
    '/shell.phar',
    '/x.php5',
  ])('not run, and not shown: %s', async (path) => {
    for (const name of [path.replace('/x', ''), '/wp-content/uploads/evil.php']) {
      await server.write(alpha, name.slice(1), '<?php echo "ran"; // secret');
    }
    const answer = await server.http('alpha.test', path);
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('Page not found');
  });

  test('a folder without an index is not listed; one that lacks its slash is sent there, on the port that was asked', async () => {
    await server.write(alpha, 'wp-content/uploads/pic.png', 'png');
    expect((await server.http('alpha.test', '/wp-content/uploads/')).status).toBe(403);
    const answer = await server.http(`alpha.test:${httpPort}`, '/wp-content/uploads');
    expect(answer).toMatchObject({ status: 301, headers: { location: '/wp-content/uploads/' } });
  });

  test('a folder shows its index.html, or else runs its index.php', async () => {
    const program = `echo 'run ', $_SERVER['QUERY_STRING'], file_get_contents('php://input');`;
    await server.write(beta, 'shop/index.php', `<?php ${program}`);
    expect((await server.http('beta.test', '/shop/?a=b')).text).toBe('run a=b');
    const sent = { method: 'POST', body: 'c'.repeat(100_000) };
    expect((await server.http('beta.test', '/shop/?a=b', sent)).text).toBe(`run a=b${sent.body}`);
    expect(JSON.parse((await server.http('beta.test', '/?a=b')).text)).toMatchObject({
      QUERY_STRING: 'a=b',
    });
    for (const folder of ['', 'shop/']) {
      const file = await server.write(beta, `${folder}index.html`, 'static');
      await eventually(
        async () => (await server.http('beta.test', `/${folder}`)).text === 'static',
        NOTICED_WITHIN_MS,
      );
      await rm(file);
      expect((await server.http('beta.test', `/${folder}`)).text).not.toBe('static');
    }
  });

  test('an index.html at the top has conditions and ranges, and is no POST’s to answer', async () => {
    const file = await server.write(alpha, 'index.html', 'front page');
    await eventually(
      async () => (await server.http('alpha.test', '/')).text === 'front page',
      NOTICED_WITHIN_MS,
    );
    const { headers } = await server.http('alpha.test', '/', { method: 'HEAD' });
    expect(headers).toMatchObject({
      'content-length': '10',
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    });
    const asked = (name: string, value: string) =>
      server.http('alpha.test', '/', { headers: { [name]: value } });
    expect((await asked('If-None-Match', String(headers.etag))).status).toBe(304);
    expect(await asked('Range', 'bytes=0-4')).toMatchObject({ status: 206, text: 'front' });
    expect((await server.http('alpha.test', '/', { method: 'POST', body: 'x' })).status).toBe(405);
    await rm(file);
  });

  test('what was not there a moment ago is noticed within a second; what changes, goes or becomes a link is never served as before', async () => {
    const get = async () => (await server.http('alpha.test', '/fresh.txt')).text;
    for (let times = 0; times < 2; times++) {
      expect(await get()).toContain('"SCRIPT_NAME":"\\/index.php"');
      const file = await server.write(alpha, 'fresh.txt', 'long before');
      await eventually(async () => (await get()) === 'long before', NOTICED_WITHIN_MS);
      await server.write(alpha, 'fresh.txt', 'short');
      // Another worker may still remember that it was missing.
      expect(await get()).not.toBe('long before');
      await eventually(async () => (await get()) === 'short', NOTICED_WITHIN_MS);
      await rm(file);
      expect(await get()).toContain('"SCRIPT_NAME":"\\/index.php"');
      await server.write(alpha, 'fresh.txt', 'again');
      await eventually(async () => (await get()) === 'again', NOTICED_WITHIN_MS);
      await rm(file);
      await server.link(alpha, 'fresh.txt', join(server.layout.htdocsOf(beta.id), 'who.txt'));
      expect(await get()).toContain('"SCRIPT_NAME":"\\/index.php"');
      await rm(file);
    }
  });

  test('links of root to what is root’s are followed, links of the install to what is another’s are not', async () => {
    const secret = await server.write(beta, 'secret.txt', 'of beta');
    await writeFile(join(server.layout.folder, 'core.css'), 'core');
    const htdocs = server.layout.htdocsOf(alpha.id);
    await symlink(join(server.layout.folder, 'core.css'), join(htdocs, 'core.css'));
    expect((await server.http('alpha.test', '/core.css')).text).toBe('core');

    await server.link(alpha, 'stolen.txt', secret);
    await server.link(alpha, 'passwd.txt', '/etc/passwd');
    await server.link(alpha, 'stolen', server.layout.htdocsOf(beta.id));
    for (const path of ['/stolen.txt', '/passwd.txt', '/stolen/secret.txt']) {
      expect(JSON.parse((await server.http('alpha.test', path)).text)).toMatchObject({ REQUEST_URI: path });
    }
    expect((await server.http('alpha.test', '/stolen/index.php')).status).toBe(404);
    expect((await server.http('alpha.test', '/stolen/')).text).toContain('"SCRIPT_NAME":"\\/index.php"');
    // Its own are its own affair.
    await server.link(alpha, 'mine.txt', join(htdocs, 'who.txt'));
    expect((await server.http('alpha.test', '/mine.txt')).text).toBe('alpha');
  });

  test('one that the web server may not read is as if it were not there', async () => {
    const file = await server.write(alpha, 'closed.txt', 'closed');
    await chmod(file, 0o600);
    expect(JSON.parse((await server.http('alpha.test', '/closed.txt')).text)).toMatchObject({
      REQUEST_URI: '/closed.txt',
    });
  });
});
