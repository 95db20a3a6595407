import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:http2';
import { json, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_PHP_LIMITS } from '../../../lib/php-limits.ts';
import { LOGIN_PATH } from '../../contract/wordpress-login.ts';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';
import type { Vhost } from './vhost.ts';

const MEGABYTE = 1024 * 1024;
const plain = siteState('plain', ['plain.test']);
/** Accepts more than the machine's standard of 2 MB: 4 MB, and 1 MB for the form around it. */
const raised = { ...siteState('raised', ['raised.test']), php: { ...NO_PHP_LIMITS, uploadMb: 4 } };

let server: TestServer;
let plainVhost: Vhost;
beforeAll(async () => {
  server = await startServer({ uploadMb: { standard: 2, most: 9 } });
  plainVhost = await server.makeInstall(plain);
  await server.web.start([plainVhost, await server.makeInstall(raised)]);
});
afterAll(() => server.close());

/** A request in chunks, which has no length. */
function chunked(hostname: string): ClientRequest {
  const { host, port } = server.options.edgeHttp;
  // Each on its own connection: nginx ends one whose request it refused before the whole body was there, whatever its answer said.
  const wanted = { host, port, method: 'POST', path: '/?up', headers: { Host: hostname }, agent: false };
  const asked = request(wanted);
  asked.on('error', () => {});
  return asked;
}

/** The length of the body that PHP got, or the status of another answer. */
async function answered(response: IncomingMessage | undefined): Promise<unknown> {
  if (response?.statusCode !== 200) return response?.statusCode;
  const told = await json(response);
  return typeof told === 'object' && told !== null && 'length' in told ? told.length : told;
}

async function sendChunked(hostname: string, bytes: number): Promise<unknown> {
  const asked = chunked(hostname);
  const response = once(asked, 'response');
  asked.write(Buffer.alloc(bytes));
  asked.end();
  const [message]: IncomingMessage[] = await response;
  return answered(message);
}

/** Over HTTP/2, which needs no length. `beforeEnd`: called once the server has the request without its body. */
async function sendHttp2(
  hostname: string,
  bytes: number,
  method = 'POST',
  path = '/?up',
  beforeEnd?: () => Promise<void>,
): Promise<unknown> {
  const { host, port } = server.options.edgeHttps;
  const session = connect(`https://${host}:${port}`, { servername: hostname, rejectUnauthorized: false });
  try {
    // The header keeps the page cache out.
    const from = { 'x-requested-with': 'XMLHttpRequest' };
    const headers = { ':method': method, ':path': path, ':authority': hostname, ...from };
    const stream = session.request(headers, { endStream: false });
    stream.on('error', () => {});
    const response = once(stream, 'response');
    if (beforeEnd !== undefined) {
      if (session.connecting) await once(session, 'connect');
      // The answer to a later frame comes after the server has read the headers.
      await new Promise<void>((resolve, reject) => {
        session.ping((error) => (error === null ? resolve() : reject(error)));
      });
      await beforeEnd();
    }
    stream.end(Buffer.alloc(bytes));
    const [answer] = await response;
    if (answer[':status'] !== 200) return answer[':status'];
    const told: unknown = JSON.parse(await text(stream));
    return typeof told === 'object' && told !== null && 'length' in told ? told.length : told;
  } finally {
    session.destroy();
  }
}

describe.each([
  ['in chunks', sendChunked],
  ['over HTTP/2', sendHttp2],
])('a body without a length, %s', (_how, send) => {
  test.each([
    ['plain.test', 3],
    ['raised.test', 5],
  ])('%s accepts %i MB and no more', async (hostname, most) => {
    expect(await send(hostname, most * MEGABYTE)).toBe(most * MEGABYTE);
    expect(await send(hostname, most * MEGABYTE + 1)).toBe(413);
  });
});

test('an install that accepts more than others takes two bodies without a length at once', async () => {
  const held = [chunked('raised.test'), chunked('raised.test')];
  const responses = held.map((asked) => once(asked, 'response'));
  for (const asked of held) {
    // The server answers once it has counted the request.
    asked.setHeader('Expect', '100-continue');
    const counted = once(asked, 'continue');
    asked.flushHeaders();
    await counted;
  }
  expect(await sendChunked('raised.test', 1)).toBe(429);
  expect(await sendChunked('plain.test', 1)).toBe(1);
  for (const asked of held) asked.end('x');
  for (const response of responses) {
    const [message]: IncomingMessage[] = await response;
    expect(await answered(message)).toBe(1);
  }
});

test('other methods have the standard limit over HTTP/2', async () => {
  const sent = [1, 2, 3].map(() => sendHttp2('raised.test', 5 * MEGABYTE, 'X-UP'));
  expect(await Promise.all(sent)).toEqual([413, 413, 413]);
});

test.each(['GET', 'OPTIONS'])('%s over HTTP/2 loses a body that no header announces', async (method) => {
  expect(await sendHttp2('raised.test', 5 * MEGABYTE, method)).toBe(0);
  expect(await sendHttp2('plain.test', 1, method)).toBe(0);
});

test('a login over HTTP/2 loses it, too', async () => {
  await server.write(raised, 'wp-load.php', `<?php echo strlen(file_get_contents('php://input'));`);
  expect(await sendHttp2('raised.test', 5 * MEGABYTE, 'GET', `${LOGIN_PATH}?token=x`)).toBe(0);
});

test('requests without a body are no uploads', async () => {
  const { host, port } = server.options.edgeHttp;
  const responses = [1, 2, 3].map(() => {
    const asked = request({
      host,
      port,
      method: 'DELETE',
      path: '/?held',
      headers: { Host: 'raised.test' },
    });
    const response = once(asked, 'response');
    asked.end();
    return response;
  });
  // A refusal comes at once, the other answers wait.
  expect(await sendChunked('raised.test', 1)).toBe(1);
  await server.write(raised, 'go-on', '');
  for (const response of responses) {
    const [message]: IncomingMessage[] = await response;
    expect(await answered(message)).toBe(0);
  }
});

test('a body without a length that arrives while the website is held reaches no PHP', async () => {
  const hold = () =>
    server.web.put({ ...plainVhost, held: { until: new Date(Date.now() + 60_000).toISOString() } });
  try {
    expect(await sendHttp2('plain.test', 1_000, 'POST', '/?up', async () => {})).toBe(1_000);
    expect(await sendHttp2('plain.test', 1_000, 'POST', '/?up', hold)).toBe(502);
  } finally {
    await server.web.put(plainVhost);
  }
  expect(await sendHttp2('plain.test', 1_000)).toBe(1_000);
});
