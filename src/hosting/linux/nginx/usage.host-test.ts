import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { InstallState } from '../../contract/install-state.ts';
import type { AccessEntry } from '../../contract/logs.ts';
import type { InstallDay } from '../../contract/usage.ts';
import { eventually } from '../../policy/edge.fixture.ts';
import { createEdgeCounts } from '../../policy/usage/edge-counts.ts';
import { accessLine } from '../../websites/logs/access-logs.ts';
import { runFiles } from './machine-options.ts';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';
import { createUsageLogReader } from './usage-log-reader.ts';
import { workersOf } from './worker-processes.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

let server: TestServer;
let shop: InstallState;
beforeEach(async () => {
  server = await startServer();
  shop = siteState('shop', ['shop.test', { name: 'old.test', redirectTo: 'shop.test' }]);
  const vhost = await server.makeInstall(shop);
  await server.write(shop, 'large.css', 'a { color: red }\n'.repeat(100_000));
  await server.write(shop, 'image.png', Buffer.alloc(3_000_000, 7));
  await server.web.start([vhost]);
});
afterEach(() => server.close());

async function counted(): Promise<InstallDay[]> {
  await server.web.collectUsage();
  return server.usage.read(null).days;
}

/** Waits until that many requests have been counted: nginx's workers write every second. */
async function afterRequests(requests: number): Promise<Pick<InstallDay, 'requests' | 'bytes' | 'visits'>> {
  await eventually(async () => ((await counted())[0]?.requests ?? 0) >= requests);
  const [day] = await counted();
  return { requests: day?.requests ?? 0, bytes: day?.bytes ?? 0, visits: day?.visits ?? 0 };
}

function asked(path: string, { method = 'GET', host = 'shop.test', headers = [] as string[] } = {}): string {
  const lines = [`Host: ${host}`, `User-Agent: ${BROWSER}`, ...headers];
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

const closing = (path: string, options: Parameters<typeof asked>[1] = {}): string =>
  asked(path, { ...options, headers: [...(options.headers ?? []), 'Connection: close'] });

/** Sends requests on one connection that ends with the last, and returns the number of bytes received. */
async function received(requests: string[], scheme: 'http' | 'https' = 'http'): Promise<number> {
  const { edgeHttp, edgeHttps } = server.options;
  const port = scheme === 'http' ? edgeHttp.port : edgeHttps.port;
  const socket =
    scheme === 'http'
      ? connect({ host: '127.0.0.1', port })
      : tlsConnect({ host: '127.0.0.1', port, servername: 'shop.test', rejectUnauthorized: false });
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  socket.write(requests.join(''));
  await once(socket, 'close');
  return bytes;
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The bytes of a connection that wait in buffers of the kernel, at either end. */
async function waitingBytes({ localPort = 0, remotePort = 0 }: Socket): Promise<number> {
  const hexOf = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');
  const [client, peer] = [hexOf(localPort), hexOf(remotePort)];
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/));
  return rows
    .filter(([, local = '', remote = '']) => {
      const ports = [local, remote].map((end) => end.slice(-4));
      return ports.includes(client) && ports.includes(peer);
    })
    .flatMap(([, , , , queues = '']) => queues.split(':'))
    .reduce((sum, queue) => sum + Number.parseInt(queue, 16), 0);
}

interface Frame {
  /** With its head of 9 bytes. */
  length: number;
  /** 0: a frame of the connection. */
  stream: number;
  isLast: boolean;
}

/** A frame of HTTP/2 (RFC 9113, section 4.1). */
function http2Frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A connection of HTTP/2 whose windows are never full. `frames` grows with what the server sends. */
function openHttp2() {
  const socket = tlsConnect({
    host: '127.0.0.1',
    port: server.options.edgeHttps.port,
    servername: 'shop.test',
    ALPNProtocols: ['h2'],
    rejectUnauthorized: false,
  });
  const frames: Frame[] = [];
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const length = 9 + rest.readUIntBE(0, 3);
      const [type, flags] = [rest.readUInt8(3), rest.readUInt8(4)];
      frames.push({ length, stream: rest.readUInt32BE(5), isLast: type <= 1 && (flags & 1) === 1 });
      rest = rest.subarray(length);
    }
  });
  const window = Buffer.alloc(6);
  window.writeUInt16BE(4);
  window.writeUInt32BE(2 ** 31 - 1, 2);
  const more = Buffer.alloc(4);
  more.writeUInt32BE(2 ** 30);
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(Buffer.concat([http2Frame(4, 0, 0, window), http2Frame(8, 0, 0, more)]));
  return { socket, frames };
}

/** The head of a GET, with every field written out (RFC 7541, section 6.2.2). */
function http2Request(stream: number, path: string): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  const fields = { ':method': 'GET', ':scheme': 'https', ':authority': 'shop.test', ':path': path };
  const head = Object.entries({ ...fields, 'user-agent': BROWSER }).map(([name, value]) =>
    Buffer.concat([Buffer.from([0]), text(name), text(value)]),
  );
  return http2Frame(1, 0x05, stream, Buffer.concat(head));
}

describe('the bytes of answers equal those that the visitor receives', () => {
  test('over HTTP and TLS, whole, partial, empty, compressed and cached', async () => {
    const requests = [
      closing('/image.png'),
      closing('/image.png', { method: 'HEAD' }),
      closing('/image.png', { headers: ['Range: bytes=10-19'] }),
      closing('/image.png', { headers: ['Range: bytes=0-9,20-29'] }),
      closing('/large.css', { headers: ['Accept-Encoding: gzip'] }),
      closing('/image.png', { headers: ['If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT'] }),
      closing('/page'),
      closing('/page'),
      closing('/missing.php'),
      closing('/', { host: 'old.test' }),
      closing('/', { method: 'BREW' }),
    ];
    let bytes = 0;
    for (const request of requests) bytes += await received([request]);
    bytes += await received([asked('/page'), asked('/image.png'), closing('/large.css')]);
    bytes += await received([asked('/page'), closing('/image.png')], 'https');
    const all = requests.length + 5;
    expect(await afterRequests(all)).toEqual({ requests: all, bytes, visits: 1 });
  });

  test('if the visitor leaves before the answer', async () => {
    const socket = connect({ host: '127.0.0.1', port: server.options.edgeHttp.port });
    const received: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.write(asked('/image.png', { method: 'HEAD' }) + asked('/?held=1'));
    await eventually(() => received.length > 0);
    socket.destroy();
    await once(socket, 'close');
    await server.write(shop, 'go-on', '');
    const { length } = Buffer.concat(received);
    expect(await afterRequests(2)).toEqual({ requests: 2, bytes: length, visits: 1 });
  });

  test('over HTTP/2: the frames of the answers with their heads, and no frames of the connection', async () => {
    const { frames, socket } = openHttp2();
    await once(socket, 'secureConnect');
    for (const [index, path] of ['/image.png', '/large.css', '/page', '/missing.png'].entries()) {
      socket.write(http2Request(1 + 2 * index, path));
    }
    await eventually(() => frames.filter(({ isLast }) => isLast).length === 4);
    socket.destroy();
    const ofAnswers = frames.filter(({ stream }) => stream !== 0);
    const bytes = ofAnswers.reduce((sum, { length }) => sum + length, 0);
    expect(ofAnswers.length).toBeLessThan(frames.length);
    expect(await afterRequests(4)).toEqual({ requests: 4, bytes, visits: 1 });
  });

  test('if the visitor leaves in the middle of the body', async () => {
    await server.write(shop, 'film.mp4', Buffer.alloc(64 * 1024 * 1024, 7));
    const socket = connect({ host: '127.0.0.1', port: server.options.edgeHttp.port });
    let bytes = 0;
    socket.once('data', () => socket.pause());
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    socket.write(asked('/film.mp4'));
    await eventually(() => bytes > 0);
    // The workers write no more, and everything that they have written arrives.
    const nginx = (await server.daemons.list()).find(({ name }) => name === 'nginx');
    const { serving } = await workersOf(nginx?.pid ?? 0);
    for (const pid of serving) process.kill(pid, 'SIGSTOP');
    try {
      socket.resume();
      await eventually(async () => (await waitingBytes(socket)) === 0);
      socket.resetAndDestroy();
      await once(socket, 'close');
    } finally {
      for (const pid of serving) process.kill(pid, 'SIGCONT');
    }
    expect(bytes).toBeLessThan(64 * 1024 * 1024);
    expect(await afterRequests(1)).toEqual({ requests: 1, bytes, visits: 1 });
  });
});

test('other requests count for no website', async () => {
  await received([closing('/', { host: 'unknown.test' })]);
  const path = '/.well-known/acme-challenge/token';
  await server.web.publish({ hostname: 'shop.test', path, text: 'proof' });
  await received([closing(path)]);
  const check = ['Cache-Control: only-if-cached'];
  await received([closing('/image.png', { method: 'HEAD', headers: check })]);
  let bytes = await received([closing('/image.png')]);
  // With content, it is no check.
  bytes += await received([closing('/image.png', { headers: check })]);
  bytes += await received([closing('/image.png', { method: 'HEAD', headers: ['Cache-Control: no-cache'] })]);
  expect(await afterRequests(3)).toEqual({ requests: 3, bytes, visits: 1 });
});

test('bots are no visits, and hostile user agents change no figure', async () => {
  for (const agent of [
    'Googlebot/2.1 (+http://www.google.com/bot.html)',
    'curl/8.14.1',
    '"],["0a000000-0000-4000-8000-000000000000",1,9999999,"192.0.2.1","Firefox',
    'x\\"\\\\\t\x80\xff',
    'x'.repeat(8_000),
  ]) {
    await server.http('shop.test', '/image.png', { headers: { 'User-Agent': agent }, method: 'HEAD' });
  }
  const { requests } = await afterRequests(5);
  expect(requests).toBe(5);
  expect((await counted()).map(({ installId }) => installId)).toEqual([shop.id]);
  expect(server.log.filter(({ msg }) => msg.includes('usage log'))).toEqual([]);
});

test('counting goes on over reloads, and the logs are deleted', async () => {
  const { usageLogs } = runFiles(server.layout);
  const other = siteState('other', ['other.test']);
  let bytes = 0;
  for (let round = 0; round < 3; round++) {
    bytes += await received([closing('/image.png')]);
    await server.web.put(await server.makeInstall({ ...other, id: crypto.randomUUID() }, { php: false }));
    bytes += await received([closing('/image.png')]);
  }
  expect(await afterRequests(6)).toEqual({ requests: 6, bytes, visits: 1 });
  server.clock.advance(MINUTE_MS);
  await eventually(async () => (await readdir(usageLogs)).every((name) => name === 'requests.log'));
  expect(await readFile(join(usageLogs, 'requests.log'), 'utf8')).toBe('');
  bytes += await received([closing('/image.png')]);
  expect(await afterRequests(7)).toEqual({ requests: 7, bytes, visits: 1 });
});

test('no request is lost or counted twice if the host restarts', async () => {
  const { usageLogs } = runFiles(server.layout);
  let bytes = await received([closing('/image.png')]);
  await afterRequests(1);
  await server.web.stop();
  const before = await bytesIn(usageLogs);
  bytes += await received([closing('/image.png')]);
  // In a renamed log if the worker has not yet begun the new one.
  await eventually(async () => (await bytesIn(usageLogs)) > before);
  // The renamed logs of before, and the new one, are read from where they were counted.
  await server.usage.stop();
  server.usage.start();
  const reader = createUsageLogReader({
    counts: createEdgeCounts(),
    folder: usageLogs,
    ledger: server.usage,
    accessLogs: server.options.accessLogs,
    reopen: () => server.daemons.signal('nginx', 'SIGUSR1'),
    log: server.options.log,
    clock: server.clock,
    everyMs: 50,
  });
  reader.start();
  await eventually(() => server.usage.read(null).days[0]?.requests === 2);
  await reader.collect();
  expect(server.usage.read(null).days).toMatchObject([{ requests: 2, bytes, visits: 1 }]);
  await reader.stop();
});

test('the access log of the install has a line for each request, without queries', async () => {
  await received([closing('/page?key=secret', { headers: ['Referer: https://a.test/x?token=secret'] })]);
  await received([closing('/image.png')], 'https');
  await received([closing('/x', { host: 'old.test', headers: ['Accept: "],[\\'] })]);
  await afterRequests(3);
  const lines = server.requests
    .filter(({ installId }) => installId === shop.id)
    .map((line): AccessEntry => JSON.parse(accessLine(line, true)))
    .slice(-3)
    .toSorted((one, other) => other.path.localeCompare(one.path));
  expect(JSON.stringify(lines)).not.toContain('secret');
  const common = { address: '127.0.0.1', method: 'GET', host: 'shop.test', user_agent: BROWSER };
  expect(lines).toMatchObject([
    { ...common, path: '/x', status: 301, host: 'old.test' },
    { ...common, path: '/page', status: 200, cache: 'MISS', referrer: 'https://a.test/x', scheme: 'http' },
    { ...common, path: '/image.png', status: 200, cache: null, php_seconds: null, scheme: 'https' },
  ]);
  expect(lines[1]?.php_seconds).toEqual(expect.any(Number));
});

test('pages are counted apart from files, with their cache hits and times', async () => {
  await received([closing('/page')]);
  await received([closing('/page')]);
  await received([closing('/image.png')]);
  await afterRequests(3);
  const [counts] = await counted();
  expect(counts?.pages).toEqual({ requests: 2, hits: 1, milliseconds: expect.any(Number) });
});

test('no website can read the log', async () => {
  const { usageLogs } = runFiles(server.layout);
  await received([closing('/image.png')]);
  await writeFile(join(usageLogs, 'requests-000000000000001.log'), '');
  for (const path of [usageLogs, join(usageLogs, 'requests.log')]) {
    await expect(
      runCommand('/usr/bin/setpriv', ['--reuid=265000', '--regid=265000', '--clear-groups', 'cat', path]),
    ).rejects.toThrow(/Permission denied/);
  }
});
