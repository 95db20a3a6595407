import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { LookupFunction } from 'node:net';
import { buffer } from 'node:stream/consumers';
import pino from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { type S3Server, type S3ServerOptions, startS3Server } from '../../../test/servers/s3-server.ts';
import { createSelfSigned } from '../../lib/certificates/self-signed-certificate.ts';
import { type ObjectRef, ObjectStorageError, type StoredObject } from './object-storage.ts';
import { createS3Storage, type S3Options } from './s3.ts';

const CREDENTIALS = { accessKeyId: 'HOMEPORTTEST', secretAccessKey: 'a/secret+key' };
const ODD_KEYS = [
  'plain.txt',
  'with space and +plus',
  'ünï/文件/💾.png',
  "quotes'()*!~-_.",
  '100%25/a%2Fb?c=d&e#f',
  'a//b',
  '/leading',
  'trailing/',
  'a=b;c:d@e,f$g',
  '[brackets]{braces}|^`"<>\\',
];

/** Resolves names below localhost to this machine, whatever the system's resolver says (RFC 6761 section 6.3). */
const lookup: LookupFunction = (_name, options, found) => {
  if (options.all) found(null, [{ address: '127.0.0.1', family: 4 }]);
  else found(null, '127.0.0.1', 4);
};

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function startServer(options?: S3ServerOptions): Promise<S3Server> {
  const server = await startS3Server(options);
  open.push(() => server.close());
  return server;
}

function storageAt(endpoint: string | null, more: Partial<S3Options> = {}) {
  const log = pino({ level: 'silent' });
  const storage = createS3Storage({ endpoint, pathStyle: true, credentials: null, lookup, log, ...more });
  open.push(() => storage.close());
  return storage;
}

function ref(key: string, more: Partial<ObjectRef> = {}): ObjectRef {
  return { bucket: 'media', region: 'us-east-1', key, ...more };
}

async function textOf(stored: StoredObject | null): Promise<string | null> {
  return stored?.body ? (await buffer(stored.body)).toString() : null;
}

async function failure(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error('it succeeded'),
    (e: unknown) => e,
  );
  if (!(error instanceof ObjectStorageError)) throw error;
  return error.message;
}

describe.each([
  { style: 'path-style', pathStyle: true },
  { style: 'virtual-host style', pathStyle: false },
])('$style', ({ pathStyle }) => {
  test('any key is fetched with a signature, and from the public URL', async () => {
    const server = await startServer({ credentials: CREDENTIALS });
    const plain = await startServer();
    const storage = storageAt(server.url, { pathStyle, credentials: CREDENTIALS });
    const unsigned = storageAt(plain.url, { pathStyle });
    for (const key of ODD_KEYS) {
      server.put('media', key, `content of ${key}`);
      plain.put('media', key, `content of ${key}`);
      expect(await textOf(await storage.get(ref(key)))).toBe(`content of ${key}`);
      expect(server.requests.at(-1)).toMatchObject({
        host: `${pathStyle ? '' : 'media.'}localhost:${server.port}`,
        signed: true,
      });
      expect(await textOf(await unsigned.get(ref(key)))).toBe(`content of ${key}`);
      // The library requests the same path as in the public URL.
      const asked = plain.requests.at(-1);
      expect(asked?.signed).toBe(false);
      expect(unsigned.publicUrl(ref(key))).toBe(
        `http://${asked?.host}${asked?.path.replace('?x-id=GetObject', '')}`,
      );
    }
  });

  test('an endpoint below a path', async () => {
    const server = await startServer();
    server.put(pathStyle ? 'storage' : 'media', pathStyle ? 'media/a' : 'storage/a', 'below');
    const storage = storageAt(`${server.url}/storage/`, { pathStyle });
    expect(await textOf(await storage.get(ref('a')))).toBe('below');
    expect(storage.publicUrl(ref('a'))).toBe(
      pathStyle ? `${server.url}/storage/media/a` : `http://media.localhost:${server.port}/storage/a`,
    );
  });
});

describe('answers', () => {
  test('content with only its headers', async () => {
    const server = await startServer();
    server.put('media', 'a.svg', '<svg/>', 'image/svg+xml', {
      'cache-control': 'max-age=60',
      'content-encoding': 'identity',
      'content-language': 'de',
      'content-disposition': 'inline',
      expires: 'Wed, 21 Oct 2037 07:28:00 GMT',
      'x-amz-secret': 'internal',
    });
    const stored = await storageAt(server.url).get(ref('a.svg'));
    expect(stored?.status).toBe(200);
    expect(stored?.headers).toEqual({
      'accept-ranges': 'bytes',
      'cache-control': 'max-age=60',
      'content-disposition': 'inline',
      'content-encoding': 'identity',
      'content-language': 'de',
      'content-length': '6',
      'content-type': 'image/svg+xml',
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      expires: 'Wed, 21 Oct 2037 07:28:00 GMT',
      'last-modified': expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/),
    });
    expect(await textOf(stored)).toBe('<svg/>');
  });

  test('HEAD, an empty object, ranges and conditions', async () => {
    const server = await startServer();
    server.put('media', 'digits', '0123456789');
    server.put('media', 'empty', '');
    const storage = storageAt(server.url);
    const head = await storage.get(ref('digits'), { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, body: null, headers: { 'content-length': '10' } });
    expect(await textOf(await storage.get(ref('empty')))).toBe('');

    const part = await storage.get(ref('digits'), { range: 'bytes=2-4' });
    expect(part).toMatchObject({
      status: 206,
      headers: { 'content-range': 'bytes 2-4/10', 'content-length': '3' },
    });
    expect(await textOf(part)).toBe('234');
    expect(await storage.get(ref('digits'), { range: 'bytes=10-' })).toEqual({
      status: 416,
      headers: { 'content-range': 'bytes */10' },
      body: null,
    });

    const etag = head?.headers.etag ?? '';
    const modified = head?.headers['last-modified'] ?? '';
    for (const method of ['GET', 'HEAD'] as const) {
      const same = await storage.get(ref('digits'), { method, ifNoneMatch: etag });
      expect(same).toEqual({ status: 304, headers: { etag, 'last-modified': modified }, body: null });
      expect(await storage.get(ref('digits'), { method, ifModifiedSince: modified })).toMatchObject({
        status: 304,
      });
    }
    const other = await storage.get(ref('digits'), { ifNoneMatch: '"other"', ifModifiedSince: 'no date' });
    expect(await textOf(other)).toBe('0123456789');
  });

  test('a missing object, and invalid keys', async () => {
    const server = await startServer({ buckets: ['media'] });
    const storage = storageAt(server.url);
    expect(await storage.get(ref('missing'))).toBeNull();
    expect(await storage.get(ref('missing'), { method: 'HEAD' })).toBeNull();
    const asked = server.requests.length;
    for (const key of ['', '..', 'a/../b', './a', 'a/.', 'é'.repeat(513), 'lone \ud800 surrogate']) {
      expect(await storage.get(ref(key))).toBeNull();
      expect(() => storage.publicUrl(ref(key))).toThrow(ObjectStorageError);
    }
    expect(server.requests).toHaveLength(asked);
  });

  test('a large object as a stream, which can be destroyed early', async () => {
    const server = await startServer();
    const large = randomBytes(8 * 1024 * 1024);
    server.put('media', 'large', large);
    const storage = storageAt(server.url);
    const stored = await storage.get(ref('large'));
    if (!stored?.body) throw new Error('no body');
    expect((await buffer(stored.body)).equals(large)).toBe(true);
    for (let i = 0; i < 20; i++) (await storage.get(ref('large')))?.body?.destroy();
    expect((await storage.get(ref('large'), { range: 'bytes=0-0' }))?.status).toBe(206);
  });

  test('parallel requests, including several regions', async () => {
    const server = await startServer();
    for (let i = 0; i < 60; i++) server.put('media', `${i}`, `${i}`);
    const storage = storageAt(server.url);
    const texts = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        return textOf(await storage.get(ref(`${i}`, { region: `region-${i % 3}` })));
      }),
    );
    expect(texts).toEqual(Array.from({ length: 60 }, (_, i) => `${i}`));
  });

  test('over TLS, if the authority is trusted', async () => {
    const notBefore = new Date(Date.now() - 60_000);
    const { chain, key } = await createSelfSigned({
      names: ['localhost', 'media.localhost'],
      notBefore,
      days: 2,
    });
    const server = await startServer({ tls: { cert: chain, key } });
    server.put('media', 'a', 'over TLS');
    expect(await textOf(await storageAt(server.url, { ca: chain }).get(ref('a')))).toBe('over TLS');
    expect(await textOf(await storageAt(server.url, { ca: chain, pathStyle: false }).get(ref('a')))).toBe(
      'over TLS',
    );
    expect(await failure(storageAt(server.url).get(ref('a')))).toMatch(
      /^The certificate of the object storage at https:\S+ is not accepted \(\w+\)\. Its operator must renew/,
    );
  });
});

describe('failures say what to fix', () => {
  test('the bucket', async () => {
    const server = await startServer({
      buckets: ['media'],
      elsewhere: { moved: 'eu-west-1' },
      forbidden: ['private'],
      credentials: CREDENTIALS,
    });
    const storage = storageAt(server.url, { credentials: CREDENTIALS });
    expect(await failure(storage.get(ref('a', { bucket: 'nothing' })))).toBe(
      `There is no bucket "nothing" at ${server.url}. Create it, or correct its name or region in the offload settings.`,
    );
    const moved =
      'The bucket "moved" is in the region "eu-west-1", not in "us-east-1". Correct its region in the offload settings.';
    expect(await failure(storage.get(ref('a', { bucket: 'moved' })))).toBe(moved);
    expect(await failure(storage.get(ref('a', { bucket: 'moved' }), { method: 'HEAD' }))).toBe(moved);
    expect(await failure(storage.get(ref('a', { region: 'eu-west-1' })))).toBe(
      'The bucket "media" is in the region "us-east-1", not in "eu-west-1". Correct its region in the offload settings.',
    );
    const denied = /^The bucket "private" refuses your provider's credentials\. Give them the right/;
    expect(await failure(storage.get(ref('a', { bucket: 'private' })))).toMatch(denied);
    expect(await failure(storage.get(ref('a', { bucket: 'private' }), { method: 'HEAD' }))).toMatch(denied);
  });

  test('the credentials, without revealing them', async () => {
    const server = await startServer({ buckets: ['media'], credentials: CREDENTIALS });
    expect(await failure(storageAt(server.url).get(ref('a')))).toBe(
      'The bucket "media" is not publicly readable. Make it public, or ask your provider for credentials that may read them.',
    );
    for (const wrong of [{ accessKeyId: 'OTHER' }, { secretAccessKey: 'wrong-secret' }]) {
      const message = await failure(
        storageAt(server.url, { credentials: { ...CREDENTIALS, ...wrong } }).get(ref('a')),
      );
      expect(message).toMatch(/does not accept the credentials \(\w+\)\. Your provider must correct them\.$/);
      expect(message).not.toMatch(/OTHER|wrong-secret|HOMEPORTTEST/);
    }
  });

  test('names that could lead elsewhere never leave this machine', async () => {
    const server = await startServer({ buckets: ['media'] });
    const storage = storageAt(server.url, { pathStyle: false });
    for (const bucket of [
      '',
      'a',
      'a/b',
      'evil.example.com/',
      'arn:aws:s3:::x',
      'UPPER',
      'a..b',
      '..',
      'x@y',
      'a#b',
      'a?b',
    ]) {
      expect(await failure(storage.get(ref('a', { bucket })))).toMatch(/is not a valid bucket name/);
      expect(() => storage.publicUrl(ref('a', { bucket }))).toThrow(ObjectStorageError);
    }
    for (const region of ['', 'evil.example.com/', 'a b', '-x']) {
      expect(await failure(storage.get(ref('a', { region })))).toMatch(/is not a valid region/);
    }
    expect(server.requests).toEqual([]);
  });

  async function startOther(answer: Parameters<typeof createServer>[1]): Promise<string> {
    const server: Server = createServer(answer ?? (() => {}));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return `http://localhost:${address.port}`;
  }

  test('the port is closed, or the name is unknown', async () => {
    const server = await startS3Server();
    await server.close();
    expect(await failure(storageAt(server.url).get(ref('a')))).toBe(
      `The object storage at ${server.url} cannot be reached: nothing listens there. Check the bucket's region. If it is right, ask your provider whether this is the right storage.`,
    );
    const unknown: LookupFunction = (name, _options, found) => {
      found(
        Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), {
          code: 'ENOTFOUND',
          syscall: 'getaddrinfo',
        }),
        [],
      );
    };
    expect(await failure(storageAt(null, { lookup: unknown, pathStyle: false }).get(ref('a')))).toMatch(
      /^The object storage at https:\/\/s3\.us-east-1\.amazonaws\.com cannot be reached: the name is not known\./,
    );
  });

  test('the server is not S3', async () => {
    const url = await startOther((_request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<!doctype html><p>Not here</p>');
    });
    expect(await failure(storageAt(url).get(ref('a')))).toMatch(/does not behave like S3 object storage/);
    const redirecting = await startOther((_request, response) => {
      response.writeHead(302, { location: 'https://login.example.com/' }).end('Found');
    });
    expect(await failure(storageAt(redirecting).get(ref('a')))).toMatch(
      /does not behave like S3 object storage/,
    );
  });

  test('it is overloaded: reported after three attempts', async () => {
    let count = 0;
    const url = await startOther((_request, response) => {
      count += 1;
      response.writeHead(503, { 'content-type': 'application/xml' });
      response.end('<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>');
    });
    expect(await failure(storageAt(url).get(ref('a')))).toMatch(
      /failing or overloaded \(503 SlowDown\)\. Try again/,
    );
    expect(count).toBe(3);
  });

  test('a temporary failure is retried', async () => {
    let count = 0;
    const url = await startOther((request, response) => {
      count += 1;
      if (count === 1) request.socket.destroy();
      else response.end('there');
    });
    expect(await textOf(await storageAt(url).get(ref('a')))).toBe('there');
  });

  test('it does not answer: the timeout covers all attempts', async () => {
    let count = 0;
    const url = await startOther(() => {
      count += 1;
    });
    const message = await failure(storageAt(url, { progressTimeoutMs: 1_000 }).get(ref('a')));
    expect(message).toMatch(/cannot be reached: it did not answer in time/);
    expect(count).toBe(1);
  });

  test('it stops in the middle of an object', async () => {
    const stalling = await startOther((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('begin');
    });
    const stored = await storageAt(stalling, { progressTimeoutMs: 1_000 }).get(ref('a'));
    expect(await failure(textOf(stored))).toMatch(/stopped in the middle of an object of the bucket "media"/);
    const breaking = await startOther((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('begin', () => response.destroy());
    });
    expect(await failure(textOf(await storageAt(breaking).get(ref('a'))))).toMatch(/stopped in the middle/);
  });
});

describe('public URLs', () => {
  const aws = createS3Storage({
    endpoint: null,
    pathStyle: false,
    credentials: null,
    log: pino({ level: 'silent' }),
  });

  test.each([
    ['a/b.png', 'https://media.s3.eu-central-1.amazonaws.com/a/b.png'],
    ['a b+c%.png', 'https://media.s3.eu-central-1.amazonaws.com/a%20b%2Bc%25.png'],
    ["é'?#", 'https://media.s3.eu-central-1.amazonaws.com/%C3%A9%27%3F%23'],
  ])('%s', (key, url) => expect(aws.publicUrl(ref(key, { region: 'eu-central-1' }))).toBe(url));

  test('partitions, names with dots, and services at an IP address', () => {
    expect(aws.publicUrl(ref('a', { region: 'cn-north-1' }))).toBe(
      'https://media.s3.cn-north-1.amazonaws.com.cn/a',
    );
    expect(aws.publicUrl(ref('a', { bucket: 'media.example.com' }))).toBe(
      'https://s3.us-east-1.amazonaws.com/media.example.com/a',
    );
    const log = pino({ level: 'silent' });
    const local = (endpoint: string) =>
      createS3Storage({ endpoint, pathStyle: false, credentials: null, log });
    expect(local('http://10.0.0.1:9000').publicUrl(ref('a'))).toBe('http://10.0.0.1:9000/media/a');
    expect(local('http://[::1]:9000').publicUrl(ref('a'))).toBe('http://[::1]:9000/media/a');
    expect(local('http://s3.lan').publicUrl(ref('a', { bucket: 'a.b.c' }))).toBe('http://a.b.c.s3.lan/a');
  });
});

test('the client library is loaded on first use', () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ resolve(name, context, next) { loaded.push(name); return next(name, context); } });
    await import(${JSON.stringify(new URL('./s3.ts', import.meta.url).href)});
    process.stdout.write(JSON.stringify(loaded));
  `;
  const options = { encoding: 'utf8' } as const;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], options);
  const loaded: unknown = JSON.parse(output);
  expect(loaded).toContain('./s3-address.ts');
  expect(loaded).not.toContain('@aws-sdk/client-s3');
});
