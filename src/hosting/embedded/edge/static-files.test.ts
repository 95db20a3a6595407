import { link, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { InstallState } from '../../contract/install-state.ts';
import { type Answer, sendRaw, siteState } from '../../policy/edge.fixture.ts';
import { PAGE_PURGE_CASES, PURGED_PATHS } from '../../policy/page-path.fixture.ts';
import { startHost, type TestHost } from '../embedded-host.fixture.ts';
import { CACHE_TTL_MS } from '../host-folder/generations.ts';
import { DEFAULT_CACHE_LIMITS, MISSING_TTL_MS } from './caches.ts';

let site: TestHost;
let install: InstallState;
const HOST = 'alpha.test';
const LARGE = Buffer.alloc(DEFAULT_CACHE_LIMITS.file + 1, 'large ');

beforeAll(async () => {
  site = await startHost();
});
afterAll(() => site.close());
const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  site.http(HOST, path, { headers });
const cacheOf = ({ headers }: Answer): unknown => headers['x-cache'];

/** Creates an install that answers to one name. Returns a function that removes it. */
async function freshInstall(): Promise<() => Promise<void>> {
  const made = siteState(`s${Math.random().toString(36).slice(2)}`, [HOST]);
  install = made;
  await site.host.apply(made);
  return () => site.host.remove(made);
}

describe('what is served', () => {
  beforeAll(freshInstall);

  test.each([
    ['page.html', 'text/html; charset=utf-8'],
    ['PAGE.HTM', 'text/html; charset=utf-8'],
    ['site.css', 'text/css; charset=utf-8'],
    ['app.js', 'text/javascript; charset=utf-8'],
    ['app.mjs', 'text/javascript; charset=utf-8'],
    ['feed.json', 'application/json; charset=utf-8'],
    ['notes.txt', 'text/plain; charset=utf-8'],
    ['logo.svg', 'image/svg+xml'],
    ['photo.avif', 'image/avif'],
    ['font.woff2', 'font/woff2'],
    ['code.wasm', 'application/wasm'],
    ['LICENSE', 'application/octet-stream'],
    ['odd.unknown-type', 'application/octet-stream'],
    ['.well-known/security.txt', 'text/plain; charset=utf-8'],
  ])('%s is %s', async (path, type) => {
    await site.write(install, path, `content of ${path}`);
    const answer = await get(`/${path}`);
    expect(answer).toMatchObject({ status: 200, text: `content of ${path}` });
    expect(answer.headers).toMatchObject({
      'content-type': type,
      'x-content-type-options': 'nosniff',
      'content-length': String(answer.bytes.length),
      'accept-ranges': 'bytes',
    });
  });

  test('names with spaces, percent signs and other scripts', async () => {
    await site.write(install, 'a b/100%/日本.html', 'found');
    expect((await get('/a%20b/100%25/%E6%97%A5%E6%9C%AC.html')).text).toBe('found');
  });

  test('an empty file, and binary content', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    await site.write(install, 'empty.css', '');
    await site.write(install, 'bytes.bin', bytes);
    expect(await get('/empty.css')).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '0' },
    });
    expect((await get('/bytes.bin')).bytes).toEqual(bytes);
  });

  test('HEAD has the headers of GET and no body', async () => {
    await site.write(install, 'page.html', 'hello');
    await site.write(install, 'large.bin', LARGE);
    for (const path of ['/page.html', '/large.bin']) {
      const whole = await get(path);
      const head = await site.http(HOST, path, { method: 'HEAD' });
      expect(head).toMatchObject({ status: 200, text: '' });
      for (const name of ['content-type', 'content-length', 'etag', 'last-modified']) {
        expect(head.headers[name]).toBe(whole.headers[name]);
      }
    }
  });

  test('a folder serves its index page, and redirects to the URL with a slash', async () => {
    await site.write(install, 'blog/index.html', 'blog');
    await site.write(install, 'pictures/a.png', 'x');
    expect((await get('/blog/')).text).toBe('blog');
    expect(await get('/blog?page=2&q=%2F')).toMatchObject({
      status: 301,
      headers: { location: '/blog/?page=2&q=%2F' },
    });
    // Never `//…`, which would be another host.
    expect((await get('//blog')).headers.location).toBe('/blog/');
    expect((await get('/%2Fblog')).headers.location).toBe('/blog/');
    // No listing.
    expect((await get('/pictures/')).status).toBe(404);
    expect((await get('/blog/index.html/')).status).toBe(404);
  });

  test('404 shows the page of the website, or else a plain one', async () => {
    expect((await get('/nothing')).status).toBe(404);
    await site.write(install, '404.html', 'lost?');
    site.clock.advance(MISSING_TTL_MS + 1);
    const own = await get('/nothing', { range: 'bytes=0-1', 'if-none-match': '*' });
    expect(own).toMatchObject({ status: 404, text: 'lost?' });
    expect(own.headers).not.toHaveProperty('etag');
    expect(own.headers).not.toHaveProperty('accept-ranges');
    expect((await site.http(HOST, '/nothing', { method: 'HEAD' })).status).toBe(404);
  });

  test.each(['index.php', 'wp-config.PHP', 'a.phtml', 'wp-config.php.bak', 'wp-config.php~'])(
    'the source of %s is not served',
    async (path) => {
      await site.write(install, path, '<?php $password = "secret";');
      const answer = await get(`/${path}`);
      expect(answer.status).toBe(403);
      expect(answer.text).not.toContain('secret');
    },
  );
});

describe('what is never served', () => {
  beforeAll(async () => {
    const takeAway = await freshInstall();
    await site.write(install, '.env', 'SECRET');
    await site.write(install, '.git/config', 'SECRET');
    await site.write(install, 'sub/.htpasswd', 'SECRET');
    await site.write(install, 'sub/page.html', 'page');
    await writeFile(join(site.folder, 'installs', install.id, 'outside.txt'), 'SECRET');
    await writeFile(join(site.folder, 'secret.txt'), 'SECRET');
    return takeAway;
  });

  test.each(['/.env', '/.git/config', '/.git/', '/sub/.htpasswd', '/%2eenv', '/sub/%2ehtpasswd', '//.env'])(
    'the dot-file %s',
    async (path) => {
      expect(await get(path)).toMatchObject({ status: 404 });
    },
  );

  test.each([
    '/../outside.txt',
    '/sub/../../outside.txt',
    '/%2e%2e/outside.txt',
    '/sub/%2e%2e/%2e%2e/outside.txt',
    '/..%2foutside.txt',
    '/%2e%2e%2foutside.txt',
    '/..%5coutside.txt',
    '/sub\\..\\..\\outside.txt',
    '/.%2e/outside.txt',
    '/%252e%252e/outside.txt',
    '/..;/outside.txt',
    '/....//outside.txt',
    '/sub/%00/../../outside.txt',
    '/index.html%00.png',
    '/%c0%ae%c0%ae/outside.txt',
    '/../../../../../../../../../../etc/passwd',
    '//../../etc/passwd',
    '/./../outside.txt',
    'http://alpha.test/../outside.txt',
    '../outside.txt',
    'outside.txt',
  ])('a path outside, requested as %s', async (path) => {
    const port = site.host.addresses?.edgeHttp.port ?? 0;
    const answer = await sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 (400|404) /);
    expect(answer).not.toMatch(/SECRET|root:/);
  });

  test('a symbolic link that leads outside; links inside are served', async () => {
    const files = join(site.folder, 'installs', install.id, 'files');
    await symlink('/etc/passwd', join(files, 'passwd.txt'));
    await symlink('../outside.txt', join(files, 'up.txt'));
    await symlink('..', join(files, 'parent'));
    await symlink('/etc', join(files, 'etc'));
    await symlink('.env', join(files, 'env.txt'));
    await symlink('loop', join(files, 'loop'));
    await symlink('gone', join(files, 'dangling'));
    await symlink('sub/page.html', join(files, 'inside.html'));
    await symlink('sub', join(files, 'alias'));
    for (const path of [
      '/passwd.txt',
      '/up.txt',
      '/parent/outside.txt',
      '/parent/files/sub/page.html.txt',
      '/etc/passwd',
      '/etc',
      '/etc/',
      '/env.txt',
      '/loop',
      '/dangling',
    ]) {
      expect(await get(path), path).toMatchObject({ status: 404 });
    }
    expect((await get('/inside.html')).text).toBe('page');
    expect((await get('/alias/page.html')).text).toBe('page');
  });

  test('pipes, which would block a reader', async () => {
    const { execFileSync } = await import('node:child_process');
    execFileSync('mkfifo', [site.file(install, 'pipe.txt')]);
    expect((await get('/pipe.txt')).status).toBe(404);
  });

  test('names that are too long for the file system', async () => {
    expect((await get(`/${'a'.repeat(300)}`)).status).toBe(404);
    expect((await get(`/${'a/'.repeat(3000)}`)).status).toBe(404);
  });
});

describe('conditional requests and ranges', () => {
  beforeAll(freshInstall);

  // From disk (MISS), from the cache (HIT), and a file too large for the cache.
  const cases: [string, string, string, Buffer][] = [
    ['from disk', '/fresh.txt', 'MISS', Buffer.from('0123456789')],
    ['from the cache', '/kept.txt', 'HIT', Buffer.from('0123456789')],
    ['of a large file', '/large.bin', 'BYPASS', LARGE],
  ];
  test.each(cases)('%s', async (_where, path, cache, content) => {
    await site.write(install, path.slice(1), content);
    await utimes(site.file(install, path.slice(1)), 1_700_000_000, 1_700_000_000);
    const fresh = async (headers: Record<string, string>): Promise<Answer> => {
      if (cache === 'MISS') site.clock.advance(CACHE_TTL_MS + 1);
      const answer = await get(path, headers);
      expect(cacheOf(answer)).toBe(cache);
      return answer;
    };
    const { headers } = await get(path);
    const etag = headers.etag ?? '';
    const modified = headers['last-modified'] ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    expect(modified).toBe('Tue, 14 Nov 2023 22:13:20 GMT');
    const size = content.length;

    expect(await fresh({ 'if-none-match': etag })).toMatchObject({
      status: 304,
      text: '',
      headers: { etag },
    });
    expect((await fresh({ 'if-modified-since': modified })).status).toBe(304);
    expect((await fresh({ 'if-none-match': '"other"' })).bytes.equals(content)).toBe(true);
    expect((await fresh({ 'if-match': '"other"' })).status).toBe(412);
    const part = await fresh({ range: 'bytes=2-5' });
    expect(part).toMatchObject({
      status: 206,
      headers: { 'content-range': `bytes 2-5/${size}`, 'content-length': '4' },
    });
    expect(part.bytes).toEqual(content.subarray(2, 6));
    expect((await fresh({ range: 'bytes=-3' })).bytes.equals(content.subarray(size - 3))).toBe(true);
    expect((await fresh({ range: 'bytes=4-', 'if-range': etag })).bytes.equals(content.subarray(4))).toBe(
      true,
    );
    expect((await fresh({ range: 'bytes=4-', 'if-range': '"other"' })).bytes.equals(content)).toBe(true);
    expect((await fresh({ range: 'bytes=0-1,4-5' })).bytes.equals(content)).toBe(true);
    expect(await fresh({ range: `bytes=${size}-` })).toMatchObject({
      status: 416,
      headers: { 'content-range': `bytes */${size}` },
    });
  });

  test('every change of a file changes its ETag, even if size and mtime stay the same', async () => {
    await site.write(install, 'a.txt', 'one');
    await utimes(site.file(install, 'a.txt'), 1_700_000_000, 1_700_000_000);
    const before = await get('/a.txt');
    await site.write(install, 'a.txt', 'two');
    await utimes(site.file(install, 'a.txt'), 1_700_000_000, 1_700_000_000);
    await site.host.purge(install, 'cdn');
    const after = await get('/a.txt', { 'if-none-match': before.headers.etag ?? '' });
    expect(after).toMatchObject({ status: 200, text: 'two' });
    expect(after.headers['last-modified']).toBe(before.headers['last-modified']);
  });

  test('an mtime in the future is not sent', async () => {
    await site.write(install, 'a.txt', 'x');
    await utimes(site.file(install, 'a.txt'), 9_000_000_000, 9_000_000_000);
    const modified = Date.parse((await get('/a.txt')).headers['last-modified'] ?? '');
    expect(modified).toBeLessThanOrEqual(site.clock.now().getTime());
  });
});

describe('the caches', () => {
  beforeEach(freshInstall);

  test('a page and an asset are a MISS once and then a HIT, whatever the query', async () => {
    await site.write(install, 'index.html', 'page');
    await site.write(install, 'a.css', 'css');
    for (const path of ['/', '/a.css']) {
      expect(cacheOf(await get(path))).toBe('MISS');
      expect(cacheOf(await get(`${path}?v=2`))).toBe('HIT');
    }
    // The same file at its other URL.
    expect((await get('/index.html')).text).toBe('page');
  });

  test('a change shows after the time to live, and not before', async () => {
    await site.write(install, 'page.html', 'old');
    await get('/page.html');
    await site.write(install, 'page.html', 'new content');
    site.clock.advance(CACHE_TTL_MS - 1);
    expect(await get('/page.html')).toMatchObject({
      status: 200,
      text: 'old',
      headers: { 'x-cache': 'HIT' },
    });
    site.clock.advance(2);
    expect(await get('/page.html')).toMatchObject({ text: 'new content', headers: { 'x-cache': 'MISS' } });
  });

  test('missing files are cached too, for a shorter time', async () => {
    expect(cacheOf(await get('/later.html'))).toBe('MISS');
    await site.write(install, 'later.html', 'here');
    expect(await get('/later.html')).toMatchObject({ status: 404, headers: { 'x-cache': 'HIT' } });
    site.clock.advance(MISSING_TTL_MS + 1);
    expect(await get('/later.html')).toMatchObject({ status: 200, text: 'here' });
  });

  test('purging pages serves the new page with its length and ETag, although the look-up stays cached', async () => {
    await site.write(install, 'page.html', 'old');
    await site.write(install, 'a.css', 'old');
    const before = await get('/page.html');
    await get('/a.css');
    await site.write(install, 'page.html', 'new and longer');
    await site.write(install, 'a.css', 'new and longer');
    await site.host.purge(install, 'page');
    const after = await get('/page.html', { 'if-none-match': before.headers.etag ?? '' });
    expect(after).toMatchObject({
      status: 200,
      text: 'new and longer',
      headers: { 'x-cache': 'MISS', 'content-length': '14' },
    });
    expect(after.headers.etag).not.toBe(before.headers.etag);
    expect(await get('/page.html', { 'if-none-match': after.headers.etag ?? '' })).toMatchObject({
      status: 304,
      headers: { 'x-cache': 'HIT' },
    });
    // The other caches are unchanged.
    expect(await get('/a.css')).toMatchObject({ text: 'old', headers: { 'x-cache': 'HIT' } });
  });

  test('purging assets keeps pages, and vice versa', async () => {
    await site.write(install, 'index.html', 'old');
    await site.write(install, 'a.css', 'old');
    await get('/');
    await get('/a.css');
    await site.write(install, 'index.html', 'new');
    await site.write(install, 'a.css', 'new');
    await site.host.purge(install, 'cdn');
    expect(await get('/a.css')).toMatchObject({ text: 'new', headers: { 'x-cache': 'MISS' } });
    expect(await get('/')).toMatchObject({ text: 'old', headers: { 'x-cache': 'HIT' } });
    await site.host.purge(install, 'page');
    expect(await get('/')).toMatchObject({ text: 'new', headers: { 'x-cache': 'MISS' } });
    expect(await get('/a.css')).toMatchObject({ text: 'new', headers: { 'x-cache': 'HIT' } });
  });

  test('purging look-ups serves new files and folders, and keeps cached bodies', async () => {
    await site.write(install, 'page.html', 'old');
    await get('/page.html');
    await get('/new.html');
    await get('/folder');
    await site.write(install, 'page.html', 'new');
    await site.write(install, 'new.html', 'here');
    await site.write(install, 'folder/index.html', 'here');
    await site.host.purge(install, 'page');
    expect((await get('/new.html')).status).toBe(404);
    await get('/page.html');
    await site.write(install, 'page.html', 'newer');
    await site.host.purge(install, 'object');
    expect((await get('/new.html')).text).toBe('here');
    expect((await get('/folder')).status).toBe(301);
  });

  test('a deleted page is gone after a purge', async () => {
    await site.write(install, 'page.html', 'old');
    await get('/page.html');
    await rm(site.file(install, 'page.html'));
    expect((await get('/page.html')).text).toBe('old');
    await site.host.purge(install, 'page');
    expect((await get('/page.html')).status).toBe(404);
  });

  test('purging single pages keeps the others, as on the Linux host', async () => {
    const addresses = PAGE_PURGE_CASES.map(([address]) => address);
    const write = async (content: string) => {
      for (const address of addresses) {
        const { pathname } = new URL(`http://${HOST}${address}`);
        await site.write(install, `${decodeURIComponent(pathname)}index.html`, content);
      }
    };
    const purged = async () => {
      const answers = await Promise.all(addresses.map((address) => get(address)));
      return addresses.filter((_address, index) => answers[index]?.text === 'new');
    };
    await write('old');
    expect(await purged()).toEqual([]);
    await write('new');
    await site.host.purgePages(install, ['/%ff', ...PURGED_PATHS]);
    expect(await purged()).toEqual(PAGE_PURGE_CASES.flatMap(([address, is]) => (is ? [address] : [])));
    // The whole cache is emptied after single pages, too.
    await site.host.purge(install, 'page');
    expect(await purged()).toEqual(addresses);
  });

  test('purging a page purges it at that path only, and no asset', async () => {
    for (const file of ['index.html', 'a.css']) await site.write(install, file, 'old');
    const texts = async () =>
      Promise.all(['/', '/index.html', '/a.css'].map(async (path) => (await get(path)).text));
    await texts();
    for (const file of ['index.html', 'a.css']) await site.write(install, file, 'new');
    await site.host.purgePages(install, ['/', '/a.css']);
    expect(await texts()).toEqual(['new', 'old', 'old']);
    expect(cacheOf(await get('/'))).toBe('HIT');
  });

  test('purging one website affects no other', async () => {
    const other = siteState('neighbour', ['neighbour.test']);
    await site.host.apply(other);
    for (const [which, host] of [
      [install, HOST],
      [other, 'neighbour.test'],
    ] as const) {
      for (const path of ['page.html', 'a.css']) {
        await site.write(which, path, 'old');
        await site.http(host, `/${path}`);
        await site.write(which, path, 'new');
      }
    }
    for (const kind of ['object', 'page', 'cdn'] as const) await site.host.purge(install, kind);
    for (const path of ['/page.html', '/a.css']) {
      expect(await get(path)).toMatchObject({ text: 'new', headers: { 'x-cache': 'MISS' } });
      expect(await site.http('neighbour.test', path)).toMatchObject({
        text: 'old',
        headers: { 'x-cache': 'HIT' },
      });
    }
    await site.host.remove(other);
  });

  test('a large file gets current headers, although its look-up stays cached', async () => {
    await site.write(install, 'large.bin', LARGE);
    const before = await get('/large.bin');
    expect(cacheOf(before)).toBe('BYPASS');
    const longer = Buffer.concat([LARGE, Buffer.from('tail')]);
    await site.write(install, 'large.bin', longer);
    const after = await get('/large.bin');
    expect(after.bytes.equals(longer)).toBe(true);
    expect(after.headers['content-length']).toBe(String(longer.length));
    expect(after.headers.etag).not.toBe(before.headers.etag);
    expect((await get('/large.bin')).bytes.equals(longer)).toBe(true);
    // Small now: streamed once more, then cached.
    await site.write(install, 'large.bin', 'small');
    expect((await get('/large.bin')).text).toBe('small');
    expect(cacheOf(await get('/large.bin'))).toBe('MISS');
    expect(cacheOf(await get('/large.bin'))).toBe('HIT');
  });

  test('a deleted large file is gone', async () => {
    await site.write(install, 'large.bin', LARGE);
    await get('/large.bin');
    await rm(site.file(install, 'large.bin'));
    expect((await get('/large.bin')).status).toBe(404);
  });

  test('a page repeatedly replaced by renaming is always served whole', async () => {
    await site.write(install, 'page.html', 'a'.repeat(5000));
    let done = false;
    const replacing = (async () => {
      for (let round = 0; !done; round++) {
        await site.write(install, '.upload', (round % 2 === 0 ? 'b' : 'a').repeat(5000 + (round % 7)));
        await rename(site.file(install, '.upload'), site.file(install, 'page.html'));
      }
    })();
    const answers: Answer[] = [];
    for (let round = 0; round < 200; round++) {
      site.clock.advance(CACHE_TTL_MS + 1);
      answers.push(await get('/page.html'));
    }
    done = true;
    await replacing;
    for (const { status, text } of answers) {
      expect(status).toBe(200);
      expect(text).toMatch(/^(a{5000,}|b{5000,})$/);
    }
  });

  test('two names of one file do not mix', async () => {
    await site.write(install, 'a.html', 'x');
    await link(site.file(install, 'a.html'), site.file(install, 'b.html'));
    expect((await get('/a.html')).text).toBe('x');
    expect((await get('/b.html')).text).toBe('x');
  });
});
