import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import ipaddr from 'ipaddr.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendRaw } from '../../policy/edge.fixture.ts';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';

const shop = siteState('shop', ['shop.test']);

let server: TestServer;

async function start(trustedProxies: string[]): Promise<void> {
  server = await startServer({
    trustedProxies: trustedProxies.map((address) => [ipaddr.parse(address), 32]),
  });
  await server.web.start([await server.makeInstall(shop)]);
}

let pages = 0;
/** A page that no test has asked for before; it shows all headers that reach PHP. */
const fresh = () => `/page-${++pages}/?server`;

/** Sends a request with these header lines from an address; returns the whole response. */
async function send(lines: string[], { from = '127.0.0.1', path = fresh() } = {}): Promise<string> {
  const socket = connect({ port: server.options.edgeHttp.port, host: '127.0.0.1', localAddress: from });
  socket.write(
    [`GET ${path} HTTP/1.1`, 'Host: shop.test', 'Connection: close', ...lines, '', ''].join('\r\n'),
  );
  return text(socket);
}

function beginRequest(head: string): Socket {
  const socket = connect({ port: server.options.edgeHttp.port, host: '127.0.0.1' });
  socket.on('error', () => {}).resume();
  socket.write(head);
  return socket;
}

const NAMES = [
  'Forwarded',
  'X-Forwarded',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Server',
  'X-Forwarded-Port',
  'X-Forwarded-Proto',
  'X-Forwarded-Prefix',
  'X-Forwarded-Scheme',
  'X-Forwarded-Ssl',
  'X-Original-URL',
  'X-Original-Host',
  'X-Rewrite-URL',
  'X-Host',
  'X-HTTP-Host-Override',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'X-Real-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'Client-IP',
  'X-Client-IP',
  'X-Cluster-Client-IP',
  'Front-End-Https',
  'Proxy',
];

describe('headers that the key of the page cache does not hold', () => {
  beforeAll(() => start([]));
  afterAll(() => server?.close());

  test.each(NAMES)('%s of one visitor is not shown to the next', async (name) => {
    const spellings = [name, name.toUpperCase(), name.replaceAll('-', '_'), name.replace(/-([^-]*)$/, '_$1')];
    for (const spelling of new Set(spellings)) {
      const path = fresh();
      const first = await send([`${spelling}: poison.example`], { path });
      expect(first, spelling).toMatch(/X-Cache: MISS/);
      expect(first, spelling).not.toContain('poison');
      const next = await send([], { path, from: '127.0.0.2' });
      expect(next, spelling).toMatch(/X-Cache: HIT/);
      expect(next, spelling).not.toContain('poison');
    }
  });

  test('the address that PHP sees is the peer, whatever the visitor says', async () => {
    const answer = await send(['X-Forwarded-For: 198.51.100.7'], { from: '127.0.0.3' });
    expect(answer).toContain('"REMOTE_ADDR":"127.0.0.3"');
    expect(answer).toContain('"HTTP_X_FORWARDED_FOR":"127.0.0.3"');
  });

  test('a POST may override its method, as the editor of WordPress does', async () => {
    const asked = { method: 'POST', headers: { 'X-HTTP-Method-Override': 'PUT' } };
    expect((await server.http('shop.test', fresh(), asked)).text).toContain(
      '"HTTP_X_HTTP_METHOD_OVERRIDE":"PUT"',
    );
  });

  test('several Host headers are refused', async () => {
    const twice = 'GET / HTTP/1.1\r\nHost: shop.test\r\nHost: other.test\r\nConnection: close\r\n\r\n';
    expect(await sendRaw(server.options.edgeHttp.port, twice)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('behind a trusted proxy', () => {
  beforeAll(() => start(['127.0.0.1']));
  afterAll(() => server?.close());

  test('the visitor is the one that it names, and its other headers are dropped all the same', async () => {
    const answer = await send([
      'X-Forwarded-For: 203.0.113.9, 198.51.100.7',
      'X-Forwarded-Host: poison.example',
    ]);
    expect(answer).toContain('"REMOTE_ADDR":"198.51.100.7"');
    expect(answer).toContain('"HTTP_X_FORWARDED_FOR":"198.51.100.7"');
    expect(answer).not.toContain('poison');
  });

  test('another client cannot name one', async () => {
    const answer = await send(['X-Forwarded-For: 198.51.100.7'], { from: '127.0.0.3' });
    expect(answer).toContain('"REMOTE_ADDR":"127.0.0.3"');
  });
});

describe('requests in progress', () => {
  beforeAll(() => start([]));
  afterAll(() => server?.close());

  test('an address with too many is refused further ones; others are served', async () => {
    const head = 'POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 1000\r\n\r\n';
    const sockets = Array.from({ length: 520 }, () => beginRequest(head));
    // Another request before that could take the place of one of these, which would then be refused and end.
    await expect.poll(() => sockets.filter(({ bytesRead }) => bytesRead > 0).length).toBe(8);
    expect(await send([])).toMatch(/^HTTP\/1\.1 429 .*\r\nRetry-After: 5\r\n/s);
    expect(await send([], { from: '127.0.0.2' })).toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => send([])).toMatch(/^HTTP\/1\.1 200 /);
  });
});
