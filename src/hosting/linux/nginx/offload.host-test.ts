import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rounds } from '../../../../test/rounds.ts';
import type { Asked } from '../../policy/edge.fixture.ts';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';

const ETAG = '"object-etag"';
const MODIFIED = 'Tue, 14 Nov 2023 22:13:20 GMT';
const URL_PATH = '/uploads/2026/a%20b.png';

/** A bucket that answers as S3 does, and remembers what it was asked. */
let bucket: Server;
let objects: Map<string, string>;
let asked: IncomingMessage[];
let status: number | null;

const media = siteState('media', ['media.test'], {
  offload: {
    bucket: 'my-media',
    region: 'eu-west-1',
    paths: [
      { path: '/uploads/', excludedPaths: ['/uploads/private', '/uploads/big/kept/'], redirectType: 'break' },
      { path: '/uploads/big', excludedPaths: ['/uploads/big/own'], redirectType: 'permanent' },
      { path: '/files', excludedPaths: [], redirectType: 'permanent' },
      { path: '/odd.(x)$', excludedPaths: [], redirectType: 'break' },
    ],
  },
});
const whole = siteState('whole', ['whole.test'], {
  offload: {
    bucket: 'everything',
    region: 'eu-west-1',
    paths: [{ path: '/', excludedPaths: ['/wp-admin'], redirectType: 'break' }],
  },
});

let server: TestServer;
beforeAll(async () => {
  bucket = createServer((request, response) => {
    asked.push(request);
    if (status !== null)
      return response.writeHead(status, { Location: 'http://evil.test/' }).end('storage secret');
    const content = objects.get(request.url ?? '');
    if (content === undefined) return response.writeHead(404).end('<Error>NoSuchKey</Error>');
    const headers: Record<string, string> = {
      'Content-Type': 'image/png',
      ETag: ETAG,
      'Last-Modified': MODIFIED,
      'Accept-Ranges': 'bytes',
      'x-amz-request-id': 'internal',
      'Set-Cookie': 'storage=1',
    };
    if (request.headers['if-none-match'] === ETAG) return response.writeHead(304, { ETag: ETAG }).end();
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    if (range === null) {
      return response.writeHead(200, { ...headers, 'Content-Length': content.length }).end(content);
    }
    const start = Number(range[1]);
    if (start >= content.length) {
      return response.writeHead(416, { 'Content-Range': `bytes */${content.length}` }).end();
    }
    const part = content.slice(start, range[2] === '' ? undefined : Number(range[2]) + 1);
    const place = `bytes ${start}-${start + part.length - 1}/${content.length}`;
    response.writeHead(206, { ...headers, 'Content-Length': part.length, 'Content-Range': place }).end(part);
  });
  bucket.listen(0, '127.0.0.1');
  await once(bucket, 'listening');
  const address = bucket.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server = await startServer({ s3: { endpoint: `http://localhost:${port}/base/`, pathStyle: true } });
  await server.web.start([await server.makeInstall(media), await server.makeInstall(whole)]);
});
afterAll(async () => {
  await server.close();
  bucket.close();
});
beforeEach(() => {
  objects = new Map([['/base/my-media/uploads/2026/a%20b.png', '0123456789']]);
  asked = [];
  status = null;
});

const get = (path: string, options?: Asked) => server.http('media.test', path, options);

test('`permanent` redirects visitors to the bucket, with the path encoded again and the query', async () => {
  const { options } = server;
  const base = options.s3.endpoint;
  expect(await get('/files/a%20b.zip?version=2&x=%2F')).toMatchObject({
    status: 301,
    headers: { location: `${base}my-media/files/a%20b.zip?version=2&x=%2F` },
  });
  expect((await get('/uploads/big/a.iso')).headers.location).toBe(`${base}my-media/uploads/big/a.iso`);
  expect((await get('/files/%0d%0aSet-Cookie:%20x')).headers.location).toBe(
    `${base}my-media/files/%0D%0ASet-Cookie:%20x`,
  );
  expect(asked).toEqual([]);
});

describe('`break`', () => {
  test('the object comes under the URL of the website, and nothing of the visitor’s goes there', async () => {
    const headers = {
      Cookie: 'wordpress_logged_in=1',
      Authorization: 'Basic eDp5',
      'X-Homeport-Bucket': 'http://evil.test',
    };
    const answer = await get(`${URL_PATH}?v=1`, { headers });
    expect(answer).toMatchObject({
      status: 200,
      text: '0123456789',
      headers: {
        'content-type': 'image/png',
        'content-length': '10',
        etag: ETAG,
        'last-modified': MODIFIED,
        'x-cache': 'BYPASS',
        'x-content-type-options': 'nosniff',
      },
    });
    expect(answer.headers).not.toHaveProperty('x-amz-request-id');
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect(asked.map(({ url }) => url)).toEqual(['/base/my-media/uploads/2026/a%20b.png']);
    for (const name of ['cookie', 'authorization', 'x-homeport-bucket', 'user-agent']) {
      expect(asked[0]?.headers).not.toHaveProperty(name);
    }
  });

  test('HEAD, ranges and conditions are passed on', async () => {
    expect(await get(URL_PATH, { method: 'HEAD' })).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '10' },
    });
    expect(await get(URL_PATH, { headers: { Range: 'bytes=2-4' } })).toMatchObject({
      status: 206,
      text: '234',
      headers: { 'content-range': 'bytes 2-4/10' },
    });
    expect(await get(URL_PATH, { headers: { 'If-None-Match': ETAG } })).toMatchObject({
      status: 304,
      text: '',
    });
    expect(await get(URL_PATH, { headers: { Range: 'bytes=99-' } })).toMatchObject({ status: 416 });
    await get(URL_PATH, { headers: { 'If-Modified-Since': MODIFIED } });
    expect(asked.map(({ method }) => method)).toEqual(['HEAD', 'GET', 'GET', 'GET', 'GET']);
    expect(asked[4]?.headers['if-modified-since']).toBe(MODIFIED);
  });

  test('a part of another version is not sent as the rest of this one', async () => {
    const headers = { Range: 'bytes=5-', 'If-Range': '"other"' };
    expect(await get(URL_PATH, { headers })).toMatchObject({ status: 200, text: '0123456789' });
  });

  test('keys are written as S3 writes them', async () => {
    for (const [path, key] of [
      ['/uploads/a%2Bb%20c.png', 'a%2Bb%20c.png'],
      ['/uploads/%C3%A9.png', '%C3%A9.png'],
      ['/uploads//x/../%61.png', 'a.png'],
      ['/uploads/100%25.png', '100%25.png'],
      ['/uploads/a%3Fb.png', 'a%3Fb.png'],
    ]) {
      asked = [];
      await get(path ?? '');
      expect(asked.map(({ url }) => url)).toEqual([`/base/my-media/uploads/${key}`]);
    }
    await get('/odd.(x)$');
    expect(asked.at(-1)?.url).toBe('/base/my-media/odd.(x)$');
  });

  test('what is excluded, folders, other methods and everything else stay on the install', async () => {
    await server.write(media, 'uploads/private/a.txt', 'here');
    await server.write(media, 'uploads/big/own/a.txt', 'here');
    await server.write(media, 'uploads-not/a.txt', 'here');
    await server.write(media, 'oddX(x)$', 'here');
    for (const path of ['/uploads/private/a.txt', '/uploads/big/own/a.txt', '/uploads-not/a.txt']) {
      expect((await get(path)).text).toBe('here');
    }
    expect((await get('/uploads/')).status).toBe(403);
    expect((await get('/uploads/private')).status).toBe(301);
    expect((await get('/oddX(x)$')).text).toBe('here');
    expect((await get(URL_PATH, { method: 'POST' })).text).toContain('"SCRIPT_NAME"');
    expect(asked).toEqual([]);
  });

  test.each([
    '/uploads/%2e%2e/secret',
    '/uploads/..%2f..%2fsecret',
    '/uploads/a%00b',
    '/uploads/.htaccess',
    '/uploads/x/.git/y',
  ])('the bucket is not asked for %s', async (path) => {
    await get(path);
    expect(asked).toEqual([]);
  });

  test.each([403, 404])('no such object (%s): the file of the install, or WordPress', async (code) => {
    await server.write(media, 'uploads/local.txt', 'still here');
    status = code;
    expect(await get('/uploads/local.txt')).toMatchObject({ status: 200, text: 'still here' });
    expect((await get('/uploads/nowhere.txt')).text).toContain('"SCRIPT_NAME"');
    expect(asked.length).toBe(2);
  });

  test.each(rounds([101, 301, 400, 500, 503, 600], [101, 103, 301, 400, 500, 503, 600]))(
    'the storage fails (%s): the file of the install, or 502',
    async (code) => {
      await server.write(media, 'uploads/local2.txt', 'still here');
      status = code;
      // At once, because nginx waits for the rest of some answers.
      const [local, answer] = await Promise.all([
        get('/uploads/local2.txt'),
        get('/uploads/other.png', { headers: { Upgrade: 'x', Connection: 'upgrade' } }),
      ]);
      expect(local).toMatchObject({ status: 200, text: 'still here' });
      expect(answer.status).toBe(502);
      expect(answer.text).toContain('File storage does not answer');
      expect(answer.text).not.toContain('secret');
    },
  );
});

test('where everything is offloaded, WordPress is still run and never shown', async () => {
  const at = (path: string) => server.http('whole.test', path);
  expect(JSON.parse((await at('/')).text)).toMatchObject({ SCRIPT_NAME: '/index.php' });
  expect(JSON.parse((await at('/index.php')).text)).toMatchObject({ SCRIPT_NAME: '/index.php' });
  expect(JSON.parse((await at('/a-post')).text)).toMatchObject({ REQUEST_URI: '/a-post' });
  expect((await at('/wp-content/uploads/x.php')).status).toBe(404);
  status = 500;
  expect(JSON.parse((await at('/index.php')).text)).toMatchObject({ SCRIPT_NAME: '/index.php' });
  expect((await at('/no-file')).status).toBe(502);
  await server.web.publish({
    hostname: 'whole.test',
    path: '/.well-known/acme-challenge/t',
    text: 'proof',
  });
  expect((await at('/.well-known/acme-challenge/t')).text).toBe('proof');
});

test('a bucket that cannot be is refused with a sentence that says so', async () => {
  const wrong = siteState('wrong', ['wrong.test'], {
    offload: { bucket: 'evil.test/#', region: 'eu-west-1', paths: [] },
  });
  await expect(server.web.put(await server.makeInstall(wrong, { php: false }))).rejects.toThrow(
    /"evil.test\/#" is not a valid bucket name/,
  );
});
