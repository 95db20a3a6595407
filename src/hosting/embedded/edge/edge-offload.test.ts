import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type ObjectConditions,
  type ObjectRef,
  type ObjectStorage,
  ObjectStorageError,
  type StoredObject,
} from '../../../network/object-storage/object-storage.ts';
import { type Asked, eventually, sendRaw, siteState } from '../../policy/edge.fixture.ts';
import { startHost, type TestHost } from '../embedded-host.fixture.ts';

/** An in-memory bucket that answers like S3 and records requests. */
interface Bucket extends ObjectStorage {
  objects: Map<string, string>;
  asked: { object: ObjectRef; conditions: ObjectConditions }[];
  bodies: Readable[];
  /** Overrides the stored object. */
  instead: (() => Promise<StoredObject>) | null;
}

const ETAG = '"object-etag"';
const MODIFIED = 'Tue, 14 Nov 2023 22:13:20 GMT';

function createBucket(): Bucket {
  const bucket: Bucket = {
    objects: new Map(),
    asked: [],
    bodies: [],
    instead: null,
    async get(object, conditions = {}) {
      bucket.asked.push({ object, conditions });
      if (bucket.instead !== null) return bucket.instead();
      const content = bucket.objects.get(object.key);
      if (content === undefined) return null;
      const headers: Record<string, string> = {
        'content-type': 'image/png',
        'content-length': String(content.length),
        etag: ETAG,
        'last-modified': MODIFIED,
        'content-encoding': 'identity',
        'x-amz-request-id': 'internal',
      };
      if (conditions.ifNoneMatch === ETAG) return { status: 304, headers: { etag: ETAG }, body: null };
      if (conditions.method === 'HEAD') return { status: 200, headers, body: null };
      const range = /^bytes=(\d+)-(\d*)$/.exec(conditions.range ?? '');
      if (range === null) return { status: 200, headers, body: stream(content) };
      const start = Number(range[1]);
      if (start >= content.length) {
        return { status: 416, headers: { 'content-range': `bytes */${content.length}` }, body: null };
      }
      const part = content.slice(start, range[2] === '' ? undefined : Number(range[2]) + 1);
      headers['content-length'] = String(part.length);
      headers['content-range'] = `bytes ${start}-${start + part.length - 1}/${content.length}`;
      return { status: 206, headers, body: stream(part) };
    },
    publicUrl: ({ bucket: name, region, key }) => `https://${name}.s3.${region}.test/${encodeURI(key)}`,
  };
  function stream(content: string): Readable {
    const body = Readable.from([Buffer.from(content)]);
    bucket.bodies.push(body);
    return body;
  }
  return bucket;
}

const bucket = createBucket();
const install = siteState('media', ['media.test'], {
  offload: {
    bucket: 'my-media',
    region: 'eu-west-1',
    paths: [
      { path: '/uploads/', excludedPaths: ['/uploads/private'], redirectType: 'break' },
      { path: '/files', excludedPaths: [], redirectType: 'permanent' },
    ],
  },
});

let site: TestHost;
beforeAll(async () => {
  site = await startHost({ objectStorage: bucket });
  await site.host.apply(install);
});
afterAll(() => site.close());
beforeEach(() => {
  bucket.objects = new Map([['uploads/2026/a b.png', '0123456789']]);
  bucket.asked = [];
  bucket.bodies = [];
  bucket.instead = null;
  site.log.length = 0;
});

function answerWith(chunks: string[], length: string): void {
  bucket.instead = () =>
    Promise.resolve({
      status: 200,
      headers: { 'content-type': 'text/plain', 'content-length': length },
      body: Readable.from(chunks.map((chunk) => Buffer.from(chunk))),
    });
}

const get = (path: string, asked?: Asked) => site.http('media.test', path, asked);
const URL_PATH = '/uploads/2026/a%20b.png';

test('`permanent` sends visitors to the bucket, the query with them', async () => {
  expect(await get('/files/a%20b.zip?version=2')).toMatchObject({
    status: 301,
    headers: { location: 'https://my-media.s3.eu-west-1.test/files/a%20b.zip?version=2' },
  });
  expect(bucket.asked).toEqual([]);
});

describe('`break`', () => {
  test('the object is served under the URL of the website', async () => {
    const answer = await get(URL_PATH);
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
    expect(bucket.asked).toEqual([
      {
        object: { bucket: 'my-media', region: 'eu-west-1', key: 'uploads/2026/a b.png' },
        conditions: { method: 'GET' },
      },
    ]);
  });

  test('HEAD, ranges and conditions are passed on', async () => {
    expect(await get(URL_PATH, { method: 'HEAD' })).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '10' },
    });
    expect(await get(URL_PATH, { headers: { range: 'bytes=2-4' } })).toMatchObject({
      status: 206,
      text: '234',
      headers: { 'content-range': 'bytes 2-4/10', 'content-length': '3' },
    });
    expect(await get(URL_PATH, { headers: { 'if-none-match': ETAG } })).toMatchObject({
      status: 304,
      text: '',
    });
    expect(await get(URL_PATH, { headers: { range: 'bytes=99-' } })).toMatchObject({
      status: 416,
      headers: { 'content-range': 'bytes */10' },
    });
    await get(URL_PATH, { headers: { 'if-modified-since': MODIFIED } });
    expect(bucket.asked.map(({ conditions }) => conditions)).toEqual([
      { method: 'HEAD' },
      { method: 'GET', range: 'bytes=2-4' },
      { method: 'GET', ifNoneMatch: ETAG },
      { method: 'GET', range: 'bytes=99-' },
      { method: 'GET', ifModifiedSince: MODIFIED },
    ]);
  });

  test('text is compressed on its way, and its weak tag reaches the bucket as its own', async () => {
    const content = 'body { margin: 0 }\n'.repeat(100);
    const headers = { 'content-type': 'text/css', 'content-length': String(content.length), etag: ETAG };
    bucket.instead = async () => ({ status: 200, headers, body: Readable.from([Buffer.from(content)]) });
    const answer = await get('/uploads/site.css', { headers: { 'Accept-Encoding': 'gzip' } });
    expect(answer).toMatchObject({ status: 200, text: content });
    expect(answer.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding',
      etag: `W/${ETAG}`,
    });
    bucket.instead = null;
    await get('/uploads/site.css', { headers: { 'If-None-Match': `W/${ETAG}` } });
    expect(bucket.asked.at(-1)?.conditions).toMatchObject({ ifNoneMatch: ETAG });
  });

  test('a range of another version is not sent as the rest of this version', async () => {
    for (const [ifRange, status, content] of [
      [ETAG, 206, '56789'],
      [MODIFIED, 206, '56789'],
      ['"other"', 200, '0123456789'],
      ['Tue, 14 Nov 2023 22:13:21 GMT', 200, '0123456789'],
    ] as const) {
      expect(await get(URL_PATH, { headers: { range: 'bytes=5-', 'if-range': ifRange } })).toMatchObject({
        status,
        text: content,
      });
    }
    // The unsent parts were released.
    await eventually(() => bucket.bodies.every(({ destroyed }) => destroyed));
  });

  test('excluded paths and all other paths stay on the install', async () => {
    await site.write(install, 'uploads/private/a.txt', 'here');
    await site.write(install, 'uploads-not/a.txt', 'here');
    expect((await get('/uploads/private/a.txt')).text).toBe('here');
    expect((await get('/uploads-not/a.txt')).text).toBe('here');
    expect((await get('/uploads/')).status).toBe(404);
    expect(bucket.asked).toEqual([]);
  });

  test.each(['/uploads/%2e%2e/secret', '/uploads/..%2f..%2fsecret', '/uploads/a%00b', '/uploads/.htaccess'])(
    '%s is never requested from the bucket',
    async (path) => {
      expect([400, 404]).toContain((await get(path)).status);
      expect(bucket.asked).toEqual([]);
    },
  );

  test('a missing object falls back to the file of the install, or 404', async () => {
    await site.write(install, 'uploads/local.txt', 'still here');
    expect(await get('/uploads/local.txt')).toMatchObject({ status: 200, text: 'still here' });
    expect((await get('/uploads/nowhere.txt')).status).toBe(404);
    expect(site.log).toEqual([]);
  });

  test('a storage failure falls back to the file of the install, or 502, and is logged', async () => {
    await site.write(install, 'uploads/local2.txt', 'still here');
    bucket.instead = () => Promise.reject(new ObjectStorageError('the access key is not accepted'));
    expect(await get('/uploads/local2.txt')).toMatchObject({ status: 200, text: 'still here' });
    const answer = await get('/uploads/other.png');
    expect(answer).toMatchObject({ status: 502, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(answer.text).not.toContain('access key');
    expect(site.log).toHaveLength(2);
    expect(site.log[1]).toMatchObject({
      level: 50,
      install: install.id,
      object: { key: 'uploads/other.png' },
      err: { message: 'the access key is not accepted' },
    });
  });

  test('an object that ends early cuts the connection', async () => {
    answerWith(['01234'], '10');
    await expect(get(URL_PATH)).rejects.toThrow(/aborted|hang up|ECONNRESET/);
    await eventually(() => site.log.some(({ level }) => level === 50));
  });

  test('surplus bytes of an object are never read as the next response', async () => {
    answerWith(['0123456789', 'HTTP/1.1 200 OK\r\n'], '10');
    const port = site.host.addresses?.edgeHttp.port ?? 0;
    const answer = await sendRaw(port, 'GET /uploads/x HTTP/1.1\r\nHost: media.test\r\n\r\n').catch(String);
    expect(answer.match(/HTTP\/1\.1 200/g) ?? []).not.toHaveLength(2);
    await eventually(() => site.log.some(({ level }) => level === 50));
  });

  test('a storage failure during the transfer cuts the connection', async () => {
    bucket.instead = () =>
      Promise.resolve({
        status: 200,
        headers: { 'content-type': 'text/plain', 'content-length': '10' },
        body: Readable.from(
          (async function* () {
            yield Buffer.from('01');
            await sleep(5);
            throw new Error('the bucket went away');
          })(),
        ),
      });
    await expect(get(URL_PATH)).rejects.toThrow(/aborted|hang up|ECONNRESET/);
    await eventually(() => site.log.length > 0);
    expect(site.log).toMatchObject([{ level: 50, err: { message: 'the bucket went away' } }]);
  });

  test('a visitor who disconnects releases the object, before and during the transfer', async () => {
    for (const leaves of ['before', 'during']) {
      const body = new Readable({ read: () => undefined });
      const [asked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      bucket.instead = async () => {
        asked.resolve();
        if (leaves === 'before') await left.promise;
        body.push('0');
        return { status: 200, headers: { 'content-length': '10' }, body };
      };
      const socket = connect({ host: '127.0.0.1', port: site.host.addresses?.edgeHttp.port ?? 0 });
      socket.write('GET /uploads/x HTTP/1.1\r\nHost: media.test\r\n\r\n');
      if (leaves === 'before') await asked.promise;
      else await once(socket, 'data');
      socket.destroy();
      // Time for the edge to notice. The test is right without it, too.
      await sleep(40);
      left.resolve();
      await eventually(() => body.destroyed);
    }
    expect(site.log.filter(({ level }) => level >= 50)).toEqual([]);
  });
});
