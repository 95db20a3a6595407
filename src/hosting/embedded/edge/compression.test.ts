import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CACHE_KINDS } from '../../contract/host.ts';
import { type Answer, decoded, siteState } from '../../policy/edge.fixture.ts';
import { startHost, type TestHost } from '../embedded-host.fixture.ts';
import { DEFAULT_CACHE_LIMITS } from './caches.ts';
import { CODINGS } from './content-coding.ts';

const HOST = 'alpha.test';
const CSS = 'body { color: rebeccapurple }\n'.repeat(300);
const LARGE = Buffer.alloc(DEFAULT_CACHE_LIMITS.file + 1, 'large text ');
const install = siteState('alpha', [HOST]);
let site: TestHost;

beforeAll(async () => {
  site = await startHost();
  await site.host.apply(install);
  await site.write(install, 'site.css', CSS);
  await site.write(install, 'large.txt', LARGE);
  await site.write(install, '404.html', `<p>lost</p>${CSS}`);
});
afterAll(() => site.close());

const get = (path: string, accepted?: string, headers: Record<string, string> = {}, method = 'GET') =>
  site.http(HOST, path, {
    method,
    headers: { ...headers, ...(accepted === undefined ? {} : { 'Accept-Encoding': accepted }) },
  });
const described = ({ headers }: Answer) => ({
  coding: headers['content-encoding'],
  vary: headers.vary,
  ranges: headers['accept-ranges'],
});
const PLAIN = { coding: undefined, vary: 'Accept-Encoding', ranges: 'bytes' };

test.each(CODINGS)('a file in %s: GET, HEAD and 304', async (coding) => {
  const plain = await get('/site.css');
  expect(described(plain)).toEqual(PLAIN);
  const whole = await get('/site.css', coding);
  expect(described(whole)).toEqual({ coding, vary: 'Accept-Encoding', ranges: undefined });
  expect(whole).toMatchObject({ status: 200, text: CSS });
  expect(whole.bytes.length).toBeLessThan(CSS.length / 10);
  expect(whole.headers['content-length']).toBe(String(whole.bytes.length));
  expect(whole.headers.etag).toBe(`W/${String(plain.headers.etag).slice(0, -1)}-${coding}"`);

  const head = await get('/site.css', coding, {}, 'HEAD');
  for (const name of ['content-encoding', 'content-length', 'etag', 'vary', 'content-type']) {
    expect(head.headers[name]).toBe(whole.headers[name]);
  }
  expect(head.bytes).toHaveLength(0);

  const tag = String(whole.headers.etag);
  expect(await get('/site.css', coding, { 'If-None-Match': tag })).toMatchObject({
    status: 304,
    headers: { etag: tag, vary: 'Accept-Encoding' },
  });
  // A cache that has only this copy must not give it to visitors who cannot read it.
  expect((await get('/site.css', undefined, { 'If-None-Match': tag })).status).toBe(200);
  expect((await get('/site.css', coding === 'br' ? 'gzip' : 'br', { 'If-None-Match': tag })).status).toBe(
    200,
  );
  // Everyone can read the plain copy.
  const copy = { 'If-None-Match': String(plain.headers.etag) };
  expect(await get('/site.css', coding, copy)).toMatchObject({
    status: 304,
    headers: { etag: plain.headers.etag },
  });
});

test('parts of a file are those of the plain file', async () => {
  const part = await get('/site.css', 'br, gzip', { Range: 'bytes=10-19' });
  expect(part).toMatchObject({ status: 206, text: CSS.slice(10, 20) });
  expect(described(part)).toEqual(PLAIN);
  // Not of the coded one, whose tag no range may name.
  const coded = await get('/site.css', 'br');
  const again = { Range: 'bytes=10-19', 'If-Range': String(coded.headers.etag) };
  expect(await get('/site.css', 'br', again)).toMatchObject({ status: 200, text: CSS });
});

test.each([
  ['tiny.css', 'a {}'],
  ['photo.jpg', CSS],
  ['font.woff2', CSS],
  ['video.mp4', CSS],
])('%s is sent as it is', async (path, content) => {
  await site.write(install, path, content);
  const answer = await get(`/${path}`, 'br, gzip, identity;q=0');
  expect(described(answer)).toEqual({ coding: undefined, vary: undefined, ranges: 'bytes' });
  expect(answer.text).toBe(content);
});

test('what does not become smaller is sent as it is, and varies', async () => {
  const content = randomBytes(2_000).toString('latin1');
  await site.write(install, 'random.txt', Buffer.from(content, 'latin1'));
  const answer = await get('/random.txt', 'br');
  expect(described(answer)).toEqual(PLAIN);
  expect(answer.bytes).toEqual(Buffer.from(content, 'latin1'));
});

test('a changed file is compressed again after a purge, and the missing page is compressed', async () => {
  await site.write(install, 'changing.css', CSS);
  expect((await get('/changing.css', 'br')).text).toBe(CSS);
  await site.write(install, 'changing.css', CSS.toUpperCase());
  for (const kind of CACHE_KINDS) await site.host.purge(install, kind);
  expect((await get('/changing.css', 'br')).text).toBe(CSS.toUpperCase());
  const missing = await get('/nothing', 'zstd');
  expect(missing).toMatchObject({ status: 404, text: `<p>lost</p>${CSS}` });
  expect(missing.headers).toMatchObject({ 'content-encoding': 'zstd', vary: 'Accept-Encoding' });
});

test('a large file is compressed on its way', async () => {
  const whole = await get('/large.txt', 'br, gzip');
  expect(described(whole)).toEqual({ coding: 'gzip', vary: 'Accept-Encoding', ranges: undefined });
  expect(whole.headers['content-length']).toBeUndefined();
  expect(LARGE.equals(decoded(whole.bytes, 'gzip'))).toBe(true);
  expect(LARGE.equals(decoded((await get('/large.txt', 'zstd')).bytes, 'zstd'))).toBe(true);
  const head = await get('/large.txt', 'gzip', {}, 'HEAD');
  expect(head.headers).toMatchObject({ 'content-encoding': 'gzip', etag: whole.headers.etag });
  const tag = { 'If-None-Match': String(whole.headers.etag) };
  expect((await get('/large.txt', 'gzip', tag)).status).toBe(304);
  expect(await get('/large.txt', 'gzip', { Range: 'bytes=6-9' })).toMatchObject({
    status: 206,
    text: 'text',
  });
  // Brotli is not made on the way.
  expect(described(await get('/large.txt', 'br'))).toEqual(PLAIN);
});
