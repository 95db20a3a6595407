import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
  type SessionOptions,
} from 'node:http2';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import pino from 'pino';
import { afterEach, expect, it } from 'vitest';
import { limiterFor } from '../../../test/connections.ts';
import { createSelfSigned } from '../../lib/certificates/self-signed-certificate.ts';
import { HTTP_OVER_TLS, limitConnections } from './http-connections.ts';
import type { HttpHandler, HttpResponse } from './http-messages.ts';
import { HTTP2, type Http2Options, serveHttp2 } from './http2-connections.ts';
import { drainable } from './listener.ts';
import type { SocketLimits } from './socket-limits.ts';

const LARGE = Buffer.alloc(256 * 1024, 'x');
const certificate = createSelfSigned({ names: ['localhost'], notBefore: new Date(), days: 1 });
let server: Server | undefined;
const clients: ClientHttp2Session[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server?.closeAllConnections();
  server?.close();
});

/** A server with HTTP/1 and HTTP/2, and ways to ask it. */
async function serve(
  handle: HttpHandler,
  options: Partial<Http2Options> = {},
  limits: Partial<SocketLimits> = { total: 1_000, perBlock: 1_000 },
) {
  const { chain, key } = await certificate;
  const limiter = limiterFor('edge', limits);
  const log = pino({ level: 'silent' });
  const started = createServer({ cert: chain, key, ALPNProtocols: [HTTP2, ...HTTP_OVER_TLS] }, handle);
  server = started;
  const http2 = serveHttp2(started, { limiter, idleMs: 60_000, requestMs: 60_000, handle, log, ...options });
  limitConnections(started, limiter);
  const drain = drainable(started, 'https', http2);
  started.listen(0, '127.0.0.1');
  await once(started, 'listening');
  const bound = started.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  function client(settings: SessionOptions = {}): ClientHttp2Session {
    const session = connect(`https://localhost:${port}`, { ca: chain, ...settings });
    session.on('error', () => {});
    clients.push(session);
    return session;
  }
  return { limiter, drain, port, chain, client };
}

function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
  const stream = session.request(headers, { endStream: headers[':method'] !== 'POST' });
  stream.on('error', () => {});
  return stream;
}

/** Status and body; the code of the reset in place of the status. */
async function answered(stream: ClientHttp2Stream): Promise<{ status: number; body: Buffer; code: number }> {
  let status = 0;
  stream.once('response', (headers) => {
    status = headers[':status'] ?? 0;
  });
  const body = await buffer(stream).catch(() => Buffer.of());
  if (!stream.closed) await once(stream, 'close');
  return { status, body, code: stream.rstCode };
}

const echo: HttpHandler = (request, response) => {
  void text(request).then((body) => {
    const { method, url, headers, httpVersion, complete } = request;
    response.setHeader('Connection', 'close');
    response.writeHead(200, { 'Keep-Alive': 'timeout=5', 'X-Kept': 'yes', ETag: ['"first"', '"second"'] });
    response.end(JSON.stringify({ method, url, headers, httpVersion, complete, body }));
  });
};

it('gives HTTP/2 and HTTP/1 to one handler, with headers alike', async () => {
  const { client, port, chain } = await serve(echo);
  const stream = ask(client(), { ':path': '/a?b', ':authority': 'shop.test', cookie: ['a=1', 'b=2'] });
  const [head] = await once(stream, 'response');
  expect(head).toMatchObject({ ':status': 200, 'x-kept': 'yes', etag: '"first"' });
  expect(Object.keys(head)).not.toEqual(expect.arrayContaining(['connection']));
  expect(head['keep-alive']).toBeUndefined();
  expect(JSON.parse(await text(stream))).toEqual({
    method: 'GET',
    url: '/a?b',
    headers: { host: 'shop.test', cookie: 'a=1; b=2' },
    httpVersion: '2.0',
    complete: true,
    body: '',
  });
  const plain = httpsRequest({ port, ca: chain, servername: 'localhost', host: '127.0.0.1' }).end();
  const [response] = await once(plain, 'response');
  expect(JSON.parse(await text(response))).toMatchObject({ httpVersion: '1.1', url: '/' });
});

it('sees a body without a length, and only one host', async () => {
  const { client } = await serve(echo);
  const session = client();
  const post = ask(session, { ':method': 'POST' });
  post.end('upload');
  expect(JSON.parse(await text(post))).toMatchObject({
    body: 'upload',
    complete: true,
    headers: { 'transfer-encoding': 'chunked' },
  });
  const twice = ask(session, { ':authority': 'shop.test', host: 'other.test' });
  expect(JSON.parse(await text(twice)).headers).toEqual({});
  const once = ask(session, { ':authority': 'shop.test', host: 'shop.test' });
  expect(JSON.parse(await text(once)).headers).toEqual({ host: 'shop.test' });
});

it('refuses many and long headers', async () => {
  let asked = 0;
  const { client } = await serve((_request, response) => {
    asked += 1;
    response.end();
  });
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`x-${at}`, 'x']));
  const refused = await answered(ask(client(), many));
  expect([refused.status, refused.code]).toEqual([0, constants.NGHTTP2_ENHANCE_YOUR_CALM]);
  expect(await answered(ask(client(), { 'x-long': 'x'.repeat(20_000) }))).toMatchObject({ status: 431 });
  expect(asked).toBe(0);
});

it('sends many large answers at once on one connection', async () => {
  const { client } = await serve((_request, response) => {
    response.writeHead(200, { 'Content-Length': LARGE.length });
    response.end(LARGE);
  });
  const session = client();
  const answers = await Promise.all(Array.from({ length: 100 }, () => answered(ask(session))));
  expect(answers.every(({ status, body }) => status === 200 && body.length === LARGE.length)).toBe(true);
});

it('answers HEAD without a body, and closes each exchange in order', async () => {
  const events: string[] = [];
  const { client } = await serve((_request, response) => {
    for (const event of ['finish', 'close']) response.once(event, () => events.push(event));
    response.writeHead(200, { 'Content-Length': 4 });
    response.end('body');
  });
  const { status, body, code } = await answered(ask(client(), { ':method': 'HEAD' }));
  expect({ status, bytes: body.length, code }).toEqual({ status: 200, bytes: 0, code: 0 });
  await expect.poll(() => events).toEqual(['finish', 'close']);
});

it('cuts an answer that fails, so that it does not look whole', async () => {
  const { client } = await serve((_request, response) => {
    response.writeHead(200);
    const body = Readable.from(
      (async function* () {
        yield Buffer.from('part');
        throw new Error('the disk is gone');
      })(),
    );
    pipeline(body, response).catch(() => undefined);
  });
  expect((await answered(ask(client()))).code).toBe(constants.NGHTTP2_INTERNAL_ERROR);
});

it('notices a visitor who takes a request back', async () => {
  const left = Promise.withResolvers<boolean>();
  const { client } = await serve((_request, response) => {
    response.once('close', () => left.resolve(response.writableFinished));
    response.writeHead(200);
    response.write('part');
  });
  const stream = ask(client());
  await once(stream, 'response');
  stream.close(constants.NGHTTP2_CANCEL);
  expect(await left.promise).toBe(false);
});

it('ends a connection on which requests are taken back all the time', async () => {
  let asked = 0;
  const { client } = await serve((_request, response) => {
    asked += 1;
    response.once('close', () => undefined);
  });
  const session = client();
  await once(session, 'connect');
  for (let at = 0; at < 100 && !session.destroyed && !session.closed; at++) {
    const requests = Array.from({ length: 50 }, () => ask(session));
    await new Promise((resolve) => session.ping(resolve));
    for (const request of requests) request.close(constants.NGHTTP2_CANCEL);
  }
  expect(session.destroyed || session.closed).toBe(true);
  expect(asked).toBeLessThan(500);
});

it('ends connections that are only pinged, and requests without progress', async () => {
  const { client, limiter } = await serve(
    (request, response) => {
      if (request.method === 'GET') response.end(LARGE);
      else request.resume();
    },
    { idleMs: 300, requestMs: 300 },
  );
  const idle = client();
  const pings = setInterval(() => {
    if (!idle.destroyed) idle.ping(() => undefined);
  }, 50);
  // Reads nothing.
  const slow = client({ settings: { initialWindowSize: 0 } });
  const unread = ask(slow);
  const upload = ask(slow, { ':method': 'POST' });
  const drips = setInterval(() => upload.write('x'), 50);
  await Promise.all([once(idle, 'close'), once(unread, 'close'), once(upload, 'close')]);
  clearInterval(pings);
  clearInterval(drips);
  await once(slow, 'close');
  await expect.poll(() => limiter.counts.open).toBe(0);
});

it('closes waiting connections for new ones if the server is full, and none with a request', async () => {
  const { client } = await serve(
    (request, response) => {
      if (request.url !== '/slow') response.end('done');
    },
    {},
    { total: 3 },
  );
  const busy = client();
  ask(busy, { ':path': '/slow' });
  const waiting = client();
  await answered(ask(waiting));
  const third = client();
  await answered(ask(third));
  const closed = once(waiting, 'close');
  expect((await answered(ask(client()))).status).toBe(200);
  await closed;
  expect(busy.destroyed).toBe(false);
});

it('finishes requests in progress before it stops, and takes no further ones', async () => {
  const begun = Promise.withResolvers<() => void>();
  const { client, drain } = await serve((_request, response) => begun.resolve(() => response.end('done')));
  const session = client();
  const idle = client();
  await once(idle, 'connect');
  const stream = ask(session);
  const finish = await begun.promise;
  const drained = drain(10_000);
  await Promise.all([once(session, 'goaway'), once(idle, 'close')]);
  finish();
  expect((await answered(stream)).body.toString()).toBe('done');
  await drained;
});

it('lets an address have as many requests at once as connections, and more once some have ended', async () => {
  const open: HttpResponse[] = [];
  const { client } = await serve((_request, response) => open.push(response), {}, { total: 8, perBlock: 4 });
  const first = client();
  const streams = [ask(first), ask(first), ask(first), ask(first)];
  await expect.poll(() => open.length).toBe(4);
  // A client may send its first requests before it has the server's settings.
  await expect.poll(() => first.remoteSettings.maxConcurrentStreams).toBe(4);
  const second = client();
  expect(await answered(ask(second))).toMatchObject({
    status: 0,
    code: constants.NGHTTP2_REFUSED_STREAM,
  });
  open[0]?.end();
  expect(await answered(streams[0] ?? ask(first))).toMatchObject({ status: 200 });
  const later = answered(ask(second));
  await expect.poll(() => open.length).toBe(5);
  open[4]?.end();
  expect(await later).toMatchObject({ status: 200, code: constants.NGHTTP2_NO_ERROR });
});
