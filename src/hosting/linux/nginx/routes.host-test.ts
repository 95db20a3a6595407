import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessEntry } from '../../contract/logs.ts';
import { LOGIN_PATH } from '../../contract/wordpress-login.ts';
import { addressRanges } from '../../policy/address-ranges.ts';
import { eventually } from '../../policy/edge.fixture.ts';
import { markerPath, markerText } from '../../policy/marker.ts';
import { createPass, PASS_COOKIE, PASS_HEADER } from '../../policy/visitor-pass.ts';
import { hashVisitorPassword } from '../../policy/visitor-password.ts';
import { accessLine } from '../../websites/logs/access-logs.ts';
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
  await edge.serve(shop, { noindex: 'all' });
  for (const path of ['/who.txt', '/a-page'])
    expect((await get(path)).headers['x-robots-tag']).toBe('noindex');
  await edge.serve(shop);
});

test('blocked addresses get 403 under every name, except for proofs', async () => {
  const blocked = addressRanges(['127.0.0.0/8']);
  await edge.serve(shop, { blocked });
  const statusFrom = async (localAddress: string, hostname: string, path = '/who.txt') => {
    const { host, port } = edge.options.edgeHttp;
    const asked = request({
      host,
      port,
      path,
      localAddress,
      headers: { Host: hostname },
      agent: false,
    }).end();
    const [response]: IncomingMessage[] = await once(asked, 'response');
    response?.resume();
    return response?.statusCode;
  };
  expect(await statusFrom('127.0.0.9', 'shop.test')).toBe(403);
  expect(await statusFrom('127.0.0.9', 'old.test')).toBe(403);
  expect(await statusFrom('127.0.0.9', 'shop.test', '/.well-known/homeport-check/none')).toBe(404);
  const unpublished = '/.well-known/acme-challenge/none?rest_route=/wp/v2/posts';
  expect(await statusFrom('127.0.0.9', 'shop.test', unpublished)).toBe(403);
  // This machine asks its own websites.
  expect(await statusFrom('127.0.0.1', 'shop.test')).toBe(200);
  await edge.serve(shop);
  expect(await statusFrom('127.0.0.9', 'shop.test')).toBe(200);
});

test('XML-RPC can be refused', async () => {
  await edge.write(shop.state, 'xmlrpc.php', '<?php echo "asked";');
  await edge.serve(shop, { xmlrpc: false });
  for (const method of ['GET', 'POST']) {
    expect((await edge.http('shop.test', '/xmlrpc.php', { method })).status).toBe(403);
    expect((await edge.http('shop.test', '//blog/xmlrpc.php?x', { method })).status).toBe(403);
  }
  await edge.serve(shop);
  expect((await get('/xmlrpc.php')).text).toBe('asked');
});

test('redirect rules apply before files, after those of names, and keep the query', async () => {
  await edge.serve(shop, {
    redirects: [
      { from: '/who.txt', match: 'exact', to: 'https://new.test/x', status: 302, keepQuery: true },
      { from: '/blog', match: 'prefix', to: '/', status: 308, keepQuery: true },
      { from: '^/p/(\\d+)\\z', match: 'regex', to: '/posts/$1', status: 301, keepQuery: false },
      { from: '/', match: 'prefix', to: 'http://shop.test', status: 301, keepQuery: true },
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
  expect((await get('/p/12?a')).headers.location).toBe('/posts/12');
  expect((await edge.http('shop.hosting.test', '/a-page?x')).headers.location).toBe(
    'http://shop.test/a-page?x',
  );
  // A redirect to itself is left out.
  expect((await get('/a-page?x')).status).toBe(200);
  await edge.serve(shop);
  expect((await get('/who.txt')).text).toBe('shop');
});

const protectedBy = async (password: string) => ({
  realm: 'Staging',
  users: { ann: await hashVisitorPassword(password) },
  exempt: addressRanges([]),
  passKey: 'k'.repeat(43),
});

describe('a protected website', () => {
  const basic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` });

  test('asks for a password, and PHP does not see it', async () => {
    await edge.write(shop.state, 'who.css', 'shop {}');
    const row = await edge.serve(shop, { protect: await protectedBy('open sesame') });
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
    for (const path of ['/who.txt', '/who.css', '/page', '/none.png', '/index.php']) {
      const { headers } = await get(path, basic('ann:open sesame'));
      expect(headers['cache-control'], path).toMatch(/^private/);
      expect(headers['cache-control'], path).not.toContain('max-age=604800');
    }
    // PHP allows shared caches, with the page cache and past it.
    await edge.write(shop.state, 'shared.php', '<?php header("Cache-Control: public, max-age=60"); echo 1;');
    const pastCache: Record<string, string> = { Origin: 'http://other.test' };
    for (const past of [{}, {}, pastCache]) {
      const { headers } = await get('/shared.php', { ...basic('ann:open sesame'), ...past });
      expect(headers['cache-control']).toBe('private');
    }
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
    expect((await get('/who.css')).headers['cache-control']).toBe('max-age=604800');
    for (const past of [{}, pastCache]) {
      expect((await get('/shared.php', past)).headers['cache-control']).toBe('public, max-age=60');
    }
    expect((await get('/page')).headers['cache-control'] ?? '').not.toContain('private');
  });

  test('admits passes, exempt addresses and a header of its own, with credentials for WordPress', async () => {
    const protect = await protectedBy('open sesame');
    await edge.serve(shop, { protect });
    const pass = createPass(protect.passKey, new Date());
    const application = basic('admin:application password');
    const seenBy = async (headers: Record<string, string>) => {
      const { status, text } = await get('/page?server', headers);
      return status === 200 ? (/AUTHORIZATION|X_HOMEPORT_PASS/i.exec(text)?.[0] ?? 'admitted') : status;
    };
    expect(await seenBy({ [PASS_HEADER]: pass })).toBe('admitted');
    // A request with an origin goes past the page cache, with all its headers.
    const withOwn = { 'X-Visitor-Authorization': 'Basic x', Origin: 'http://other.test' };
    expect(await seenBy({ [PASS_HEADER]: pass, ...withOwn })).toBe('admitted');
    expect(await seenBy({ Cookie: `a=b; ${PASS_COOKIE}=${pass}` })).toBe('admitted');
    expect(await seenBy({ [PASS_HEADER]: `${pass}0` })).toBe(401);
    expect(await seenBy({ [PASS_HEADER]: pass, ...application })).toMatch(/authorization/i);
    expect(await seenBy({ [PASS_HEADER]: pass, ...basic('ann:anything') })).toBe('admitted');
    expect(await seenBy(application)).toBe(401);
    const visitor = { 'X-Visitor-Authorization': basic('ann:open sesame').Authorization };
    expect(await seenBy({ ...visitor, ...application })).toMatch(/authorization/i);
    await edge.serve(shop, { protect: { ...protect, exempt: addressRanges(['127.0.0.1']) } });
    expect(await seenBy({})).toBe('admitted');
    expect(await seenBy(application)).toMatch(/authorization/i);
    await edge.serve(shop);
  });
});

describe('attempts to log in', () => {
  const post = (path: string, hostname = 'shop.test') =>
    edge.http(hostname, path, { method: 'POST', body: 'x' });

  test.each([
    ['/wp-login.php', '6'],
    ['/xmlrpc.php', '2'],
  ])('are limited at %s, for each website', async (path, seconds) => {
    await edge.write(shop.state, path.slice(1), '<?php echo "asked";');
    await edge.serve(shop, { limits: { login: true, xmlrpc: true } });
    expect((await post(path)).text).toBe('asked');
    await eventually(async () => (await post(path)).status === 429);
    const refused = await post(path);
    expect(refused.text).toContain('Too many requests');
    expect(refused.headers['retry-after']).toBe(seconds);
    // The password of a post is no login.
    expect((await post('/wp-login.php?action=postpass')).text).toBe('asked');
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
        redirects: [{ from: '/', match: 'prefix', to: '/new', status: 302, keepQuery: true }],
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
    await edge.serve(shop, { protect: await protectedBy('open sesame') });
    expect((await get('/other')).status).toBe(401);
    expect((await get(address)).status).toBe(200);
    // PHP checks the token at the usual spelling only.
    for (const path of ['/.well-known/%68omeport-login?x=1', `/${address}`]) {
      expect((await get(path)).status, path).toBe(401);
    }
    await edge.serve(shop);
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
      .map((text) => {
        const line = parseUsageLine(text);
        if (line === null) return null;
        const entry: AccessEntry = JSON.parse(accessLine(line, true));
        return { installId: line.installId, ...entry };
      });
  // Each worker of nginx writes its lines on its own, at least every second.
  await eventually(async () => {
    const paths = (await lines()).map((line) => line?.path);
    const hasForged = (await lines()).some((line) => line?.user_agent === forged);
    return hasForged && ['/logged', '/logged-page'].every((path) => paths.includes(path));
  });
  const all = await lines();
  expect(all).not.toContain(null);
  expect(JSON.stringify(all)).not.toMatch(/secret|unknown/);
  expect(all.find((line) => line?.user_agent === forged)).toMatchObject({
    installId: shop.state.id,
    status: 200,
    path: '/who.txt',
    php_seconds: null,
  });
  expect(all.find((line) => line?.path === '/logged')).toMatchObject({ status: 301, host: 'old.test' });
  expect(all.find((line) => line?.path === '/logged-page')).toMatchObject({
    status: 200,
    php_seconds: expect.any(Number),
  });
});
