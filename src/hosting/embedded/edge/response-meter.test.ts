import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limiterFor } from '../../../../test/connections.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { ObjectStorage } from '../../../network/object-storage/object-storage.ts';
import type { InstallDay } from '../../contract/usage.ts';
import { eventually, siteState } from '../../policy/edge.fixture.ts';
import { noStorage, startHost, type TestHost } from '../embedded-host.fixture.ts';
import { addressOf } from './response-meter.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const PAGE = '<h1>Shop</h1>';
const LARGE = randomBytes(5_000_000);

const shop = siteState('shop', ['shop.test', { name: 'old.test', redirectTo: 'shop.test' }], {
  offload: {
    bucket: 'a-bucket',
    region: 'eu-west-1',
    paths: [{ path: '/media', excludedPaths: [], redirectType: 'break' }],
  },
});
let site: TestHost;
/** The object storage's answer. */
let object: Readable;
const storage: ObjectStorage = {
  ...noStorage,
  get: async () => ({ status: 200, headers: { 'content-encoding': 'gzip' }, body: object }),
};

beforeEach(async () => {
  site = await startHost({ objectStorage: storage });
  await site.host.apply(shop);
  await site.write(shop, 'index.html', PAGE);
  await site.write(shop, 'large.bin', LARGE);
});
afterEach(() => site.close());

const days = async (): Promise<InstallDay[]> => (await site.host.readUsage(null)).days;

interface Counted {
  requests: number;
  bytes: number;
  visits: number;
}

async function counted(): Promise<Counted> {
  const [day] = await days();
  return { requests: day?.requests ?? 0, bytes: day?.bytes ?? 0, visits: day?.visits ?? 0 };
}

/** Waits until that many requests have been counted. */
async function afterRequests(requests: number): Promise<Counted> {
  await eventually(async () => (await counted()).requests >= requests);
  return counted();
}

function asked(path: string, { method = 'GET', host = 'shop.test', headers = [] as string[] } = {}): string {
  const lines = [`Host: ${host}`, `User-Agent: ${BROWSER}`, ...headers];
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/**
 * Sends requests on one connection that ends with the last, and returns the number of bytes received. Calls `onBytes` with the number so
 * far.
 */
async function received(
  requests: string[],
  scheme: 'http' | 'https' = 'http',
  onBytes: (bytes: number) => void = () => {},
): Promise<number> {
  const { addresses } = site.host;
  const port = (scheme === 'http' ? addresses?.edgeHttp.port : addresses?.edgeHttps.port) ?? 0;
  const socket =
    scheme === 'http'
      ? connect({ host: '127.0.0.1', port })
      : tlsConnect({ host: '127.0.0.1', port, servername: 'shop.test', rejectUnauthorized: false });
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    onBytes(bytes);
  });
  socket.write(requests.join(''));
  await once(socket, 'close');
  return bytes;
}

const closing = (path: string, options: Parameters<typeof asked>[1] = {}): string =>
  asked(path, { ...options, headers: [...(options.headers ?? []), 'Connection: close'] });

describe('the bytes of a response equal those that the visitor receives', () => {
  it.each<[string, string]>([
    ['of a page', closing('/')],
    ['of HEAD', closing('/large.bin', { method: 'HEAD' })],
    ['of OPTIONS', closing('/', { method: 'OPTIONS' })],
    ['of a range', closing('/large.bin', { headers: ['Range: bytes=1000-1999'] })],
    ['of a wrong range', closing('/large.bin', { headers: ['Range: bytes=9999999-'] })],
    ['of an unchanged file', closing('/', { headers: ['If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT'] })],
    ['of a missing file', closing('/missing')],
    ['of a redirect', closing('/', { host: 'old.test' })],
    ['of a method that is not allowed', asked('/', { method: 'POST', headers: ['Content-Length: 0'] })],
    ['of a large file', closing('/large.bin')],
    ['of HTTP/1.0', `GET / HTTP/1.0\r\nHost: shop.test\r\nUser-Agent: ${BROWSER}\r\n\r\n`],
  ])('%s', async (_name, request) => {
    const bytes = await received([request]);
    expect(bytes).toBeGreaterThan(50);
    expect(await afterRequests(1)).toEqual({ requests: 1, bytes, visits: 1 });
  });

  it('over TLS, without its overhead', async () => {
    const bytes = await received([asked('/'), closing('/large.bin')], 'https');
    expect(bytes).toBeGreaterThan(LARGE.length);
    expect(await afterRequests(2)).toEqual({ requests: 2, bytes, visits: 1 });
  });

  it('of several requests on one connection, sent at once', async () => {
    const bytes = await received([
      asked('/'),
      asked('/large.bin'),
      asked('/missing', { method: 'HEAD' }),
      closing('/large.bin', { headers: ['Range: bytes=-10'] }),
    ]);
    expect(await afterRequests(4)).toEqual({ requests: 4, bytes, visits: 1 });
  });

  it('of a compressed object in chunks', async () => {
    object = Readable.from([randomBytes(70_000), randomBytes(3)]);
    const bytes = await received([closing('/media/a.js')]);
    expect(bytes).toBeGreaterThan(70_003);
    expect(await afterRequests(1)).toEqual({ requests: 1, bytes, visits: 1 });
  });

  it('if the visitor leaves in the middle', async () => {
    const endless = new PassThrough();
    object = endless;
    endless.write(randomBytes(3_000));
    const socket = connect({ host: '127.0.0.1', port: site.host.addresses?.edgeHttp.port ?? 0 });
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    socket.write(asked('/media/endless.bin'));
    await eventually(() => bytes > 3_000);
    socket.destroy();
    expect(await afterRequests(1)).toEqual({ requests: 1, bytes, visits: 1 });
  });

  it('if the response is cut', async () => {
    const cut = new PassThrough();
    object = cut;
    cut.write(randomBytes(3_000));
    const bytes = await received([asked('/media/cut.bin')], 'http', (count) => {
      if (count > 3_000) cut.destroy(new Error('the storage failed'));
    });
    expect(bytes).toBeGreaterThan(3_000);
    expect(await afterRequests(1)).toEqual({ requests: 1, bytes, visits: 1 });
  });

  it('at most, if the visitor stops reading and leaves', async () => {
    await site.write(shop, 'huge.bin', Buffer.alloc(64 * 1024 * 1024));
    const socket = connect({ host: '127.0.0.1', port: site.host.addresses?.edgeHttp.port ?? 0 });
    socket.write(asked('/huge.bin'));
    await once(socket, 'readable');
    socket.destroy();
    const { bytes } = await afterRequests(1);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(32 * 1024 * 1024);
  });
});

describe('requests that count for no website', () => {
  it('are those for unknown names, and the bytes of a later response are its own', async () => {
    const bytes = await received([closing('/large.bin', { method: 'HEAD' })]);
    await received([asked('/', { host: 'unknown.test' }), closing('/large.bin', { method: 'HEAD' })]);
    expect(await afterRequests(2)).toEqual({ requests: 2, bytes: 2 * bytes, visits: 1 });
  });

  it("are the platform's own challenges", async () => {
    const path = '/.well-known/acme-challenge/token';
    await site.host.publish({ hostname: 'shop.test', path, text: 'proof' });
    await received([closing(path)]);
    await received([closing('/')]);
    expect(await afterRequests(1)).toMatchObject({ requests: 1 });
  });

  it("are the platform's checks, which have no content", async () => {
    const headers = ['Cache-Control: only-if-cached'];
    await received([closing('/', { method: 'HEAD', headers })]);
    const bytes = await received([closing('/', { headers })]);
    expect(await afterRequests(1)).toEqual({ requests: 1, bytes, visits: 1 });
  });
});

describe('visits', () => {
  it.each([
    ['a bot', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'],
    ['a program', 'curl/8.14.1'],
    ['a request without a user agent', ''],
  ])('do not include %s', async (_name, agent) => {
    await received([
      `GET / HTTP/1.1\r\nHost: shop.test\r\nUser-Agent: ${agent}\r\nConnection: close\r\n\r\n`,
    ]);
    expect(await afterRequests(1)).toMatchObject({ requests: 1, visits: 0 });
  });

  it('are counted once a day for each address', async () => {
    await received([asked('/'), closing('/')]);
    await received([closing('/')]);
    site.clock.advance(DAY_MS);
    await received([closing('/')]);
    await eventually(async () => (await days()).length === 2);
    expect((await days()).map(({ requests, visits }) => ({ requests, visits }))).toEqual([
      { requests: 3, visits: 1 },
      { requests: 1, visits: 1 },
    ]);
  });

  it('are counted by the addresses that a trusted proxy reports', async () => {
    await site.close();
    site = await startHost({
      connections: { edge: limiterFor('edge'), ssh: limiterFor('ssh') },
      isTrustedProxy: (address) => address === '127.0.0.1',
    });
    await site.host.apply(shop);
    const from = (address: string) => asked('/', { headers: [`X-Forwarded-For: ${address}`] });
    await received([from('192.0.2.1'), from('192.0.2.2'), from('192.0.2.1'), closing('/')]);
    expect(await afterRequests(4)).toMatchObject({ requests: 4, visits: 3 });
  });
});

describe('the address of a visitor', () => {
  const proxies = (address: string) => address.startsWith('10.');
  it.each([
    ['192.0.2.1', undefined, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', 'spoofed, 198.51.100.7, 10.0.0.2', '198.51.100.7'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', undefined, '10.0.0.1'],
  ])('of the peer %s with X-Forwarded-For: %s is %s', (remoteAddress, forwarded, address) => {
    const request = { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } };
    expect(addressOf(request as never, proxies)).toBe(address);
  });
});

it('counts survive a restart of the host', async () => {
  const bytes = await received([closing('/large.bin', { method: 'HEAD' })]);
  await afterRequests(1);
  await site.host.stop();
  await site.host.start();
  expect(await counted()).toEqual({ requests: 1, bytes, visits: 1 });
  await received([closing('/large.bin', { method: 'HEAD' })]);
  expect(await afterRequests(2)).toEqual({ requests: 2, bytes: 2 * bytes, visits: 1 });
});
