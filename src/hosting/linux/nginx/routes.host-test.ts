import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOGIN_PATH } from '../../contract/host.ts';
import { eventually } from '../../policy/edge.fixture.ts';
import { markerPath, markerText } from '../../policy/marker.ts';
import { hashVisitorPassword } from '../../policy/visitor-password.ts';
import { startEdge, type TestEdge } from './edge-table.fixture.ts';
import { siteState } from './test-installs.fixture.ts';
import { parseUsageLine } from './usage-lines.ts';
import type { Vhost } from './vhost.ts';

// Rules of a row that the edge with a configuration for each website does not have.

let edge: TestEdge;
let shop: Vhost;
beforeAll(async () => {
  edge = await startEdge();
  shop = await edge.makeInstall(
    siteState('shop', ['shop.test', 'shop.hosting.test', { name: 'old.test', redirectTo: 'shop.test' }]),
  );
  await edge.write(shop.state, 'who.txt', 'shop');
  for (const file of ['wp-content/debug.log', 'dump.sql', 'site.zip', 'wp-content/uploads/a.zip']) {
    await edge.write(shop.state, file, 'content');
  }
  await edge.serve(shop);
});
afterAll(() => edge.close());

const get = (path: string, headers: Record<string, string> = {}) => edge.http('shop.test', path, { headers });

test('logs, dumps and archives of whole websites are not there', async () => {
  for (const path of ['/wp-content/debug.log', '/dump.sql', '/site.zip', '/%64ump.sql', '//dump.sql']) {
    const answer = await get(path);
    expect(answer, path).toMatchObject({ status: 404 });
    expect(answer.text).toContain('Page not found');
  }
  expect(await get('/wp-content/uploads/a.zip')).toMatchObject({ status: 200, text: 'content' });
});

test('search engines are kept away from the default domain only', async () => {
  for (const path of ['/who.txt', '/a-page', '/dump.sql']) {
    const { headers } = await edge.http('shop.hosting.test', path);
    expect(headers['x-robots-tag'], path).toBe('noindex');
  }
  expect((await get('/who.txt')).headers).not.toHaveProperty('x-robots-tag');
  await edge.serve(shop, { noindex: false });
  expect((await edge.http('shop.hosting.test', '/who.txt')).headers).not.toHaveProperty('x-robots-tag');
});

test('redirect rules apply before files, after those of names, and keep the query', async () => {
  await edge.serve(shop, {
    redirects: [
      { from: '/who.txt', match: 'exact', to: 'https://new.test/x', status: 302 },
      { from: '/blog', match: 'prefix', to: '/', status: 308 },
    ],
  });
  expect(await get('/who.txt?a=%2F')).toMatchObject({
    status: 302,
    headers: { location: 'https://new.test/x?a=%2F' },
  });
  expect((await get('/blog/%2f%5cevil.test/%0d%0aX:%20y')).headers.location).toBe(
    '/%5Cevil.test/%0D%0AX:%20y',
  );
  expect((await edge.http('old.test', '/who.txt')).headers.location).toBe('http://shop.test/who.txt');
  await edge.serve(shop);
  expect((await get('/who.txt')).text).toBe('shop');
});

describe('a protected website', () => {
  const basic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` });

  test('asks for a password, and PHP does not see it', async () => {
    const users = { ann: await hashVisitorPassword('open sesame') };
    const row = await edge.serve(shop, { protect: { realm: 'Staging', users } });
    for (const path of ['/who.txt', '/', '/wp-login.php', '/dump.sql']) {
      const answer = await get(path);
      expect(answer.status, path).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Basic realm="Staging", charset="UTF-8"');
      expect(answer.text).toContain('Password required');
    }
    expect(await get('/who.txt', basic('ann:open sesame'))).toMatchObject({ status: 200, text: 'shop' });
    const page = await get('/page?server', basic('ann:open sesame'));
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('AUTHORIZATION');
    expect((await get('/who.txt', basic('ann:wrong'))).status).toBe(401);
    // What is not a visitor's is not asked.
    const marker = { installId: row.id, revision: row.revision };
    expect((await get(markerPath(marker))).text).toBe(markerText(marker));
    const proofs = join(edge.layout.proofs, 'shop.test/.well-known/acme-challenge');
    await mkdir(proofs, { recursive: true });
    await writeFile(join(proofs, 'published'), 'proof');
    expect((await get('/.well-known/acme-challenge/published')).text).toBe('proof');
    for (const path of ['none', 'none?rest_route=/wp/v2/posts', '', 'a/b']) {
      expect((await get(`/.well-known/acme-challenge/${path}`)).status, path).toBe(401);
      const answer = await get(`/.well-known/acme-challenge/${path}`, basic('ann:open sesame'));
      expect(answer.text, path).not.toContain('AUTHORIZATION');
      expect(answer.status, path).toBe(200);
    }
    await edge.serve(shop);
    expect((await get('/who.txt')).status).toBe(200);
  });
});

describe('attempts to log in', () => {
  const post = (path: string, hostname = 'shop.test') =>
    edge.http(hostname, path, { method: 'POST', body: 'x' });

  test.each(['/wp-login.php', '/xmlrpc.php'])('are limited at %s, for each website', async (path) => {
    await edge.write(shop.state, path.slice(1), '<?php echo "asked";');
    await edge.serve(shop, { limits: { login: true, xmlrpc: true } });
    expect((await post(path)).text).toBe('asked');
    await eventually(async () => (await post(path)).status === 429);
    const refused = await post(path);
    expect(refused.text).toContain('Too many requests');
    expect(refused.headers['retry-after']).toBe('60');
    // Others at this website are served.
    expect((await get(path)).text).toBe('asked');
    expect((await post('/')).status).toBe(200);
    const other = await edge.makeInstall(siteState('other', ['other.test']));
    await edge.write(other.state, path.slice(1), '<?php echo "other";');
    await edge.serve(other);
    expect((await post(path, 'other.test')).text).toBe('other');
    await edge.serve(shop, { limits: { login: false, xmlrpc: false } });
    expect((await post(path)).text).toBe('asked');
  });
});

describe('a login to WordPress', () => {
  const address = `${LOGIN_PATH}?token=top-secret`;
  const offload = {
    bucket: 'media',
    region: 'eu',
    paths: [{ path: '/', excludedPaths: [], redirectType: 'permanent' as const }],
  };

  test('gets past rules of paths, after those of names, and is never cached', async () => {
    await edge.write(
      shop.state,
      'wp-load.php',
      '<?php echo $_SERVER["REQUEST_METHOD"], " ", $_GET["token"], " ", hrtime(true);',
    );
    const { state } = shop;
    await edge.serve(
      { ...shop, state: { ...state, offload } },
      {
        deny: ['/.well-known', 'homeport-login'],
        redirects: [{ from: '/', match: 'prefix', to: '/new', status: 302 }],
      },
    );
    expect((await get('/other')).status).toBe(302);
    const first = await get(address);
    expect(first).toMatchObject({ status: 200, text: expect.stringMatching(/^GET top-secret \d+$/) });
    expect((await get(address)).text).not.toBe(first.text);
    expect((await edge.http('old.test', address)).headers.location).toBe(`http://shop.test${address}`);
    for (const method of ['HEAD', 'POST']) {
      expect((await edge.http('shop.test', address, { method })).status, method).toBe(405);
    }
    const users = { ann: await hashVisitorPassword('open sesame') };
    await edge.serve(shop, { protect: { realm: 'Staging', users } });
    expect((await get(address)).status).toBe(401);
  });

  test('is in no log with its token, even if PHP does not answer', async () => {
    const readLog = () => readFile(edge.options.usageLog, 'utf8');
    await edge.serve(shop, { php: 'unix:/run/none.sock' });
    expect((await get('/failing-page')).status).toBe(502);
    expect((await get(address, { Referer: `http://shop.test${address}` })).status).toBe(502);
    await edge.serve(shop);
    await get('/after-the-login');
    await eventually(async () => (await readLog()).includes('/after-the-login'));
    expect(await readLog()).toContain(`"${LOGIN_PATH}"`);
    // The address of the page shows that errors of requests are in this log.
    await eventually(async () => JSON.stringify(edge.log).includes('/failing-page'));
    expect(JSON.stringify(edge.log) + (await readLog())).not.toContain('top-secret');
  });
});

test('each request is logged with its install, and no visitor can name another', async () => {
  const forged = `"],["${crypto.randomUUID()}",1,9999999,"192.0.2.1","Firefox`;
  await get('/who.txt?secret', { 'User-Agent': forged, Referer: `http://a.test/${forged}` });
  await edge.http('old.test', '/logged');
  await edge.http('unknown.test', '/unknown');
  await get('/logged-page');
  await get('/.well-known/homeport/x');
  const lines = async () =>
    (await readFile(edge.options.usageLog, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => parseUsageLine(line));
  await eventually(async () => (await lines()).some((line) => line?.path === '/logged-page'));
  const all = await lines();
  expect(all).not.toContain(null);
  expect(JSON.stringify(all)).not.toMatch(/secret|unknown/);
  expect(all.find((line) => line?.userAgent === forged)).toMatchObject({
    installId: shop.state.id,
    status: 200,
    path: '/who.txt',
    upstreamSeconds: null,
  });
  expect(all.find((line) => line?.path === '/logged')).toMatchObject({ status: 301, host: 'old.test' });
  expect(all.find((line) => line?.path === '/logged-page')).toMatchObject({
    status: 200,
    upstreamSeconds: expect.any(Number),
  });
});
