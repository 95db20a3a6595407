import { once } from 'node:events';
import { type ClientRequest, createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, constants } from 'node:http2';
import { createServer as createSecureServer } from 'node:https';
import { PassThrough } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { createZstdDecompress } from 'node:zlib';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { limiterFor } from '../../../../test/connections.ts';
import { manualClock } from '../../../../test/manual-clock.ts';
import { createSelfSigned } from '../../../lib/certificates/self-signed-certificate.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import type { HttpHandler } from '../../../network/connections/http-messages.ts';
import { HTTP2, serveHttp2 } from '../../../network/connections/http2-connections.ts';
import { decoded, eventually } from '../../policy/edge.fixture.ts';
import { PhpFailure, type PhpRequest, type PhpResponse } from '../../runtime/wasm/php-sites.ts';
import { parseVhost } from '../host-folder/vhost.ts';
import { createCompressedVariants } from './compressed-variants.ts';
import { CODINGS } from './content-coding.ts';
import { createPhpPages, type PhpPagesOptions } from './php-pages.ts';
import { parseSitePath, parseTarget } from './request-target.ts';

const vhost = parseVhost(
  JSON.stringify({
    version: 1,
    id: '0a000000-0000-4000-8000-000000000000',
    name: 'shop',
    hostnames: [],
    offload: null,
    wordpress: { version: '6.8', origin: 'http://shop.hosting.test' },
    generations: { object: 1, page: 1, cdn: 1 },
  }),
  'hosting.test',
);

/** What PHP got, and how it answers. */
interface Asked {
  request: PhpRequest;
  signal: AbortSignal;
  body: PassThrough;
  answer(head?: Partial<PhpResponse>): PassThrough;
  fail(error: Error): void;
}
const asked: Asked[] = [];
const logged: Record<string, unknown>[] = [];
const clock = manualClock();
let settled = 0;
/** Whether PHP goes on with a request that is aborted. */
let isDeaf = false;
const options: PhpPagesOptions = {
  request(_vhost, request, signal) {
    const { promise, resolve, reject } = Promise.withResolvers<PhpResponse>();
    if (!isDeaf) signal.addEventListener('abort', () => reject(signal.reason));
    const body = new PassThrough();
    asked.push({
      request,
      signal,
      body,
      answer(head = {}) {
        resolve({ status: 200, headers: { 'content-type': 'text/html' }, ...head, body });
        return body;
      },
      fail: reject,
    });
    return promise;
  },
  async settle() {
    settled += 1;
  },
  cacheBytes: 8_192,
  variants: createCompressedVariants({ log: pino({ level: 'silent' }) }),
  log: pino({ level: 'info' }, { write: (line: string) => logged.push(JSON.parse(line)) }),
  clock,
};
const pages = createPhpPages(options);
/** After which the server ends a connection whose request it has read; 0 for never. */
let silenceMs = 0;
const handle: HttpHandler = (request, response) => {
  const target = parseTarget(request.url ?? '');
  const path = target && parseSitePath(target.path);
  if (!target || !path) return response.destroy();
  const host = { name: 'shop.hosting.test', port: null };
  const exchange = {
    request,
    response,
    method: request.method ?? '',
    target,
    host,
    clientAddress: '192.0.2.1',
    isOwn: false,
  };
  pages.answer({ ...exchange, scheme: 'http' }, vhost, path).catch(() => response.destroy());
};
const server = createServer((request, response) => {
  request.socket.setTimeout(silenceMs);
  handle(request, response);
});
let port = 0;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked.length = 0;
  logged.length = 0;
  // So that each test finds its line.
  clock.advance(MINUTE_MS);
  settled = 0;
  isDeaf = false;
});

/** A visitor, who leaves with `destroy`. */
function visit(path: string, method = 'POST', headers: Record<string, string> = {}) {
  const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false });
  request.on('error', () => {});
  return request;
}

/** Without the error of a cut connection. */
const closed = (visitor: ClientRequest) => new Promise((resolve) => visitor.once('close', resolve));

async function lastAsked(count = 1): Promise<Asked> {
  await eventually(() => asked.length === count);
  const last = asked.at(-1);
  if (last === undefined) throw new Error('PHP was not asked');
  return last;
}

it('lets PHP finish after its visitor has left, and purges then', async () => {
  const visitor = visit('/wp-cron.php').end();
  const { request, signal, answer } = await lastAsked();
  expect(request.left?.aborted).toBe(false);
  visitor.destroy();
  await closed(visitor);
  await eventually(() => request.left?.aborted === true);
  const body = answer();
  body.write('a');
  expect(settled).toBe(0);
  body.end('b');
  await eventually(() => settled === 1);
  expect(body.readableEnded).toBe(true);
  expect(signal.aborted).toBe(false);
});

it('lets PHP finish when its visitor leaves in the middle of an answer', async () => {
  const visitor = visit('/wp-admin/export.php').end();
  const body = (await lastAsked()).answer();
  body.write('x'.repeat(100));
  const [response]: IncomingMessage[] = await once(visitor, 'response');
  response?.destroy();
  await closed(visitor);
  const part = Buffer.alloc(1024 * 1024);
  for (let count = 0; count < 8; count++) if (!body.write(part)) await once(body, 'drain');
  body.end();
  await eventually(() => settled === 1);
  expect(body.readableEnded).toBe(true);
});

it('tells PHP that the visitor of a page that is too long for the cache has left', async () => {
  const visitor = visit('/long/', 'GET').end();
  const { request, answer } = await lastAsked();
  const body = answer();
  for (let count = 0; count < 4; count++) body.write(Buffer.alloc(1024 * 1024));
  const [response]: IncomingMessage[] = await once(visitor, 'response');
  expect(request.left?.aborted).toBe(false);
  response?.destroy();
  await eventually(() => request.left?.aborted === true);
  body.end();
});

it('reads endless output of a visitor who has left up to a limit', async () => {
  const visitor = visit('/wp-admin/export.php').end();
  const body = (await lastAsked()).answer();
  visitor.destroy();
  const part = Buffer.alloc(1024 * 1024);
  await eventually(() => {
    if (!body.destroyed) body.write(part);
    return body.destroyed;
  });
  await eventually(() => settled === 1);
});

it('ends a request whose body is not complete, and those beyond a number for each website', async () => {
  const upload = visit('/wp-admin/async-upload.php', 'POST', { 'content-length': '100' });
  upload.write('half');
  const { signal } = await lastAsked();
  upload.destroy();
  await eventually(() => signal.aborted);
  const visitors = Array.from({ length: 20 }, () => visit('/wp-cron.php').end());
  await eventually(() => asked.length === 21);
  for (const visitor of visitors) visitor.destroy();
  await eventually(() => asked.filter(({ signal }) => signal.aborted).length === 5);
  for (const { answer } of asked) answer().end();
  await eventually(() => settled === 16);
});

it.each(['GET', 'POST'])(
  'shows that a slow %s request failed, although its connection was silent',
  async (method) => {
    silenceMs = 300;
    onTestFinished(() => {
      silenceMs = 0;
    });
    const visitor = visit(`/slow-${method}/`, method).end();
    const { fail } = await lastAsked();
    await new Promise((resolve) => setTimeout(resolve, 2 * silenceMs));
    fail(new PhpFailure('timeout', 'too slow'));
    const [response]: IncomingMessage[] = await once(visitor, 'response');
    expect(response?.statusCode).toBe(504);
  },
);

it('shows a failure if PHP ends in the middle of a page for the cache', async () => {
  const visitor = visit('/half/', 'GET').end();
  const body = (await lastAsked()).answer();
  body.write('<html>');
  body.destroy(new Error('aborted'));
  const [response]: IncomingMessage[] = await once(visitor, 'response');
  expect(response?.statusCode).toBe(502);
});

it.each([
  { what: 'that is not cached', method: 'POST', bytes: 100, cache: 'BYPASS' },
  { what: 'too large for the cache', method: 'GET', bytes: 3 * 1024 * 1024, cache: 'MISS' },
])('cuts the connection if PHP ends in the middle of a page $what', async ({ method, bytes, cache }) => {
  const first = visit('/cut/', method).end();
  const body = (await lastAsked()).answer();
  body.write(Buffer.alloc(bytes, 'x'));
  const [response]: IncomingMessage[] = await once(first, 'response');
  expect(response).toMatchObject({ statusCode: 200, headers: { 'x-cache': cache } });
  const cut = expect(response && text(response)).rejects.toThrow('aborted');
  await eventually(() => body.readableLength === 0);
  body.destroy(new Error('aborted'));
  await cut;
  await eventually(() => logged.length === 1);
  expect(logged[0]).toMatchObject({ install: vhost.id, path: '/cut/', msg: 'PHP gave no whole answer' });
  const again = visit('/cut/', method).end();
  const { answer } = await lastAsked(2);
  answer().end('whole');
  const [second]: IncomingMessage[] = await once(again, 'response');
  expect(second && (await text(second))).toBe('whole');
});

it('lets uploads that are slow wait beside those', async () => {
  const uploads = Array.from({ length: 101 }, (_, at) =>
    visit(`/upload-${at}/`, 'POST', { 'content-length': '2' }),
  );
  for (const upload of uploads) upload.write('x');
  await eventually(() => asked.length === 101);
  const visitor = visit('/wp-admin/', 'POST').end();
  const page: Promise<IncomingMessage[]> = once(visitor, 'response');
  const { answer } = await lastAsked(102);
  answer().end('the page');
  expect((await page)[0]?.statusCode).toBe(200);
  for (const upload of uploads) upload.destroy();
});

it('lets 100 requests of a website wait for PHP, visitors or not, and refuses the others', async () => {
  const waiting = Array.from({ length: 100 }, (_, at) => visit(`/waiting-${at}/`, 'GET').end());
  await eventually(() => asked.length === 100);
  for (const visitor of waiting) visitor.destroy();
  const refused = async () => {
    const [response]: IncomingMessage[] = await once(visit('/more/').end(), 'response');
    return [response?.statusCode, response?.headers['retry-after']];
  };
  expect([await refused(), await refused()]).toEqual([
    [503, '5'],
    [503, '5'],
  ]);
  expect({ asked: asked.length, lines: logged.length }).toEqual({ asked: 100, lines: 1 });
  for (const { answer } of asked) answer().end();
  const visitor = visit('/after/').end();
  (await lastAsked(101)).answer().end();
  const [response]: IncomingMessage[] = await once(visitor, 'response');
  expect(response?.statusCode).toBe(200);
});

it.each([
  { what: 'complete', bytes: 10 },
  { what: 'larger than what waits for PHP', bytes: 1024 * 1024 },
])('refuses an upload beyond them at once that is $what', async ({ bytes }) => {
  isDeaf = true;
  const waiting = Array.from({ length: 100 }, (_, at) => visit(`/before-${bytes}-${at}/`, 'GET').end());
  await eventually(() => asked.length === 100);
  const upload = visit('/upload/', 'POST', { 'content-length': String(bytes) });
  upload.write(Buffer.alloc(bytes));
  const [response]: IncomingMessage[] = await once(upload, 'response');
  expect(response?.statusCode).toBe(503);
  const late = (await lastAsked(101)).answer();
  await eventually(() => late.destroyed);
  for (const { answer } of asked.slice(0, 100)) answer().end();
  await Promise.all(waiting.map((visitor) => once(visitor, 'response')));
});

it('gives the place of an upload back while PHP reads it, until its end', async () => {
  const visitors = Array.from({ length: 100 }, (_, at) =>
    visit(`/large-${at}/`, 'POST', { 'content-length': '100001' }),
  );
  for (const visitor of visitors) visitor.write(Buffer.alloc(100_000));
  await eventually(() => asked.length === 100);
  const bodies = asked.flatMap(({ request }) => request.body ?? []);
  await eventually(() => bodies.every((body) => body.readableLength >= body.readableHighWaterMark));
  const refused = async () => {
    const [response]: IncomingMessage[] = await once(visit('/more/').end(), 'response');
    return response?.statusCode;
  };
  expect(await refused()).toBe(503);
  for (const body of bodies) body.resume();
  await eventually(() => bodies.every((body) => body.readableLength === 0));
  const next = visit('/next/').end();
  (await lastAsked(101)).answer().end();
  expect((await once(next, 'response'))[0]).toMatchObject({ statusCode: 200 });
  for (const visitor of visitors) visitor.end('x');
  await eventually(() => bodies.every((body) => body.readableEnded));
  expect(await refused()).toBe(503);
  for (const { answer } of asked.slice(0, 100)) answer().end();
  await Promise.all(visitors.map((visitor) => once(visitor, 'response')));
});

it('counts the head of a page to its size in the cache', async () => {
  const get = async (count: number) => {
    const visitor = visit('/large-head/', 'GET').end();
    const { answer } = await lastAsked(count);
    answer({ headers: { 'content-type': 'text/html', 'x-large': 'x'.repeat(10_000) } }).end('small');
    const [response]: IncomingMessage[] = await once(visitor, 'response');
    return response && text(response);
  };
  expect([await get(1), await get(2)]).toEqual(['small', 'small']);
});

it('gives PHP no header that another one hides behind', async () => {
  const visitor = visit('/wp-admin/x', 'GET', {
    X_Forwarded_For: '10.0.0.1',
    'X-Forwarded-For': '10.0.0.1',
    'X-HTTP-Method-Override': 'DELETE',
    'X-Homeport-Script': '60',
    Proxy: 'http://evil.test',
    Range: 'bytes=0-1',
    'X-Kept': 'yes',
  }).end();
  const { request, answer } = await lastAsked();
  answer().end();
  await once(visitor, 'response');
  expect(request.headers).toMatchObject({ 'x-kept': 'yes', range: 'bytes=0-1' });
  expect(Object.keys(request.headers).sort()).toEqual(['range', 'x-homeport-script', 'x-kept']);
});

it('asks no PHP for a client that wants only what is cached, unless PHP last failed', async () => {
  const onlyCached = async (path: string, method = 'HEAD') => {
    const [response]: IncomingMessage[] = await once(
      visit(path, method, { 'cache-control': 'only-if-cached' }).end(),
      'response',
    );
    response?.resume();
    return response?.statusCode;
  };
  const page = async (path: string, status: number) => {
    const before = asked.length;
    const visitor = visit(path, 'GET').end();
    (await lastAsked(before + 1)).answer({ status }).end('page');
    const [response]: IncomingMessage[] = await once(visitor, 'response');
    if (response) await text(response);
  };
  expect(await onlyCached('/only')).toBe(504);
  expect(await onlyCached('/only?wc-ajax=cart', 'POST')).toBe(504);
  expect(asked).toHaveLength(0);

  await page('/only', 200);
  expect(await onlyCached('/only')).toBe(200);
  clock.advance(50_000);
  // Stale, and still not made again.
  expect(await onlyCached('/only')).toBe(200);
  clock.advance(MINUTE_MS);
  expect(await onlyCached('/only')).toBe(504);
  expect(asked).toHaveLength(1);

  await page('/only', 500);
  const failed = onlyCached('/only');
  (await lastAsked(3)).answer({ status: 500 }).end();
  expect(await failed).toBe(500);
  await page('/only', 200);
  clock.advance(2 * MINUTE_MS);
  expect(await onlyCached('/only')).toBe(504);
  expect(asked).toHaveLength(4);
});

describe('compression', () => {
  const TEXT = 'a paragraph of the page '.repeat(100);
  const compressed = { 'accept-encoding': 'br, zstd, gzip' };

  it('sends what PHP has written before its end', async () => {
    const visitor = visit('/streamed', 'POST', compressed).end();
    const body = (await lastAsked()).answer({
      headers: { 'content-type': 'text/html', etag: '"v1"', vary: 'Cookie' },
    });
    body.write(TEXT);
    const [response]: IncomingMessage[] = await once(visitor, 'response');
    expect(response?.headers).toMatchObject({
      'content-encoding': 'zstd',
      vary: 'Cookie, Accept-Encoding',
      etag: 'W/"v1"',
      'x-cache': 'BYPASS',
    });
    const plain = response?.pipe(createZstdDecompress());
    let received = '';
    plain?.on('data', (chunk: Buffer) => (received += chunk.toString()));
    await eventually(() => received === TEXT);
    body.end('the end');
    await eventually(() => received === `${TEXT}the end`);
  });

  it.each<[string, Record<string, string>, Partial<PhpResponse>]>([
    ['if PHP has done that', {}, { headers: { 'content-type': 'text/html', 'content-encoding': 'deflate' } }],
    ['of another type', {}, { headers: { 'content-type': 'text/event-stream' } }],
    [
      'that PHP forbids to change',
      {},
      { headers: { 'content-type': 'text/html', 'cache-control': 'no-transform' } },
    ],
    ['for another website', { 'sec-fetch-site': 'cross-site' }, {}],
    ['for a neighbouring website', { 'sec-fetch-site': 'same-site' }, {}],
    ['that is a part', {}, { status: 206 }],
  ])('leaves an answer alone %s', async (_what, headers, head) => {
    const visitor = visit('/alone', 'POST', { ...compressed, ...headers }).end();
    (await lastAsked()).answer(head).end(TEXT);
    const [response]: IncomingMessage[] = await once(visitor, 'response');
    expect(response?.headers['content-encoding']).toBe(head.headers?.['content-encoding']);
    expect(response && (await text(response))).toBe(TEXT);
  });

  it('keeps the variants of a cached page, for HEAD too', async () => {
    const page = async (coding: string, method = 'GET') => {
      const visitor = visit('/kept', method, { 'accept-encoding': coding }).end();
      if (asked.length === 0) (await lastAsked()).answer().end(TEXT);
      const [response]: IncomingMessage[] = await once(visitor, 'response');
      const bytes = response && (await buffer(response));
      return { headers: response?.headers, text: decoded(bytes ?? Buffer.of(), coding).toString() };
    };
    const plain = { 'content-length': String(TEXT.length), vary: 'Accept-Encoding' };
    expect(await page('identity')).toMatchObject({ headers: plain, text: TEXT });
    for (const coding of CODINGS) {
      const whole = await page(coding);
      expect(whole).toMatchObject({ headers: { 'content-encoding': coding, 'x-cache': 'HIT' }, text: TEXT });
      const [head]: IncomingMessage[] = await once(
        visit('/kept', 'HEAD', { 'accept-encoding': coding }).end(),
        'response',
      );
      expect(head?.headers).toMatchObject({
        'content-encoding': coding,
        'content-length': whole.headers?.['content-length'],
        vary: 'Accept-Encoding',
      });
      head?.resume();
    }
    expect(asked).toHaveLength(1);
  });
});

it('answers over HTTP/2: an upload without a length, an answer that is cut, and a visitor who leaves', async () => {
  const { chain, key } = await createSelfSigned({ names: ['localhost'], notBefore: new Date(), days: 1 });
  const secure = createSecureServer({ cert: chain, key, ALPNProtocols: [HTTP2] });
  const limiter = limiterFor('edge');
  serveHttp2(secure, { limiter, idleMs: MINUTE_MS, requestMs: MINUTE_MS, handle, log: options.log });
  secure.listen(0, '127.0.0.1');
  await once(secure, 'listening');
  const address = secure.address();
  const client = connect(`https://localhost:${typeof address === 'object' ? address?.port : 0}`, {
    ca: chain,
  });
  onTestFinished(() => {
    client.destroy();
    secure.close();
  });
  const post = () => client.request({ ':method': 'POST', ':path': '/form' }, { endStream: false });

  const upload = post();
  upload.end('a comment');
  const first = await lastAsked();
  expect(first.request.body && (await text(first.request.body))).toBe('a comment');
  expect(Object.keys(first.request.headers)).toEqual([]);
  first.answer({ headers: { 'content-type': 'text/html', 'keep-alive': 'timeout=5' } }).end('thanks');
  expect(await text(upload)).toBe('thanks');

  const cut = post().end();
  const second = await lastAsked(2);
  const body = second.answer();
  body.write('part');
  await once(cut, 'response');
  body.destroy(new Error('the process is gone'));
  await expect(text(cut)).rejects.toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' });

  const left = post().end();
  const third = await lastAsked(3);
  left.close(constants.NGHTTP2_CANCEL);
  await eventually(() => third.request.left?.aborted === true || third.signal.aborted);
  third.answer().end();
});
