import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { limiterFor } from '../../test/connections.ts';
import { createSelfSigned } from '../lib/certificates/self-signed-certificate.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import {
  type CertificatePair,
  CONNECTION_TIMEOUTS,
  type ConnectionTimeouts,
  createSecureListener,
  type SecureListener,
} from './secure-listener.ts';

const SHORT_MS = 150;
/** Longer than any timeout of these tests, shorter than the defaults. */
const SOON_MS = 12_000;

let pair: CertificatePair;
let listener: SecureListener | undefined;
const sockets: Socket[] = [];

async function newPair(): Promise<CertificatePair> {
  const { chain, key } = await createSelfSigned({ names: ['localhost'], notBefore: new Date(), days: 1 });
  return { cert: chain, key };
}

beforeAll(async () => {
  pair = await newPair();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener?.close(0);
  listener = undefined;
});

const answerKind: RequestListener = (request, response) => {
  response.end(request.socket instanceof TLSSocket ? 'secure' : 'plain');
};

/** Starts a listener with the given timeouts. Returns its port. */
async function start(handler = answerKind, shortened: Partial<ConnectionTimeouts> = {}): Promise<number> {
  const unreadable = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';
  listener = createSecureListener(handler, pair, unreadable, limiterFor('api'), {
    ...CONNECTION_TIMEOUTS,
    checkMs: 20,
    ...shortened,
  });
  return (await listener.listen({ host: '127.0.0.1', port: 0 })).port;
}

/** A connection, and the bytes received until it was closed. */
interface Wire {
  socket: Socket;
  received(): string;
  closed: Promise<string>;
  until(text: string): Promise<void>;
}

function wire(socket: Socket): Wire {
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  return {
    socket,
    received: () => text,
    // Not events.once, which rejects on an error before the close.
    closed: new Promise((resolve) => socket.once('close', () => resolve(text))),
    async until(expected) {
      while (!text.includes(expected)) await once(socket, 'data');
    },
  };
}

const plain = (port: number) => wire(connectTcp(port, '127.0.0.1'));

async function secure(port: number, certificate = pair): Promise<Wire> {
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: certificate.cert });
  await once(socket, 'secureConnect');
  return wire(socket);
}

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const LAST_REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

async function closesSoon(connection: Wire): Promise<string> {
  const timer = new AbortController();
  const late = sleep(SOON_MS, 'still open', timer);
  const outcome = await Promise.race([connection.closed, late]);
  timer.abort();
  late.catch(() => {});
  expect(outcome).not.toBe('still open');
  return outcome;
}

describe('one port', () => {
  it('accepts HTTPS and plain HTTP, and distinguishes them', async () => {
    const port = await start();
    const connections = [plain(port), await secure(port)];
    for (const { socket } of connections) socket.write(LAST_REQUEST);
    const [overPlain, overTls] = await Promise.all(connections.map((connection) => connection.closed));
    expect(overPlain).toMatch(/^HTTP\/1\.1 200 OK.*plain/s);
    expect(overTls).toMatch(/^HTTP\/1\.1 200 OK.*secure/s);
  });

  it.each([[['http/1.0']], [['h2', 'http/1.1']], [undefined]])(
    'takes HTTP/1.0 by TLS from a client that offers %j',
    async (offered) => {
      const port = await start();
      const options = { port, host: '127.0.0.1', servername: 'localhost', ca: pair.cert };
      const connection = wire(connectTls({ ...options, ...(offered && { ALPNProtocols: offered }) }));
      connection.socket.write('GET / HTTP/1.0\r\n\r\n');
      expect(await connection.closed).toMatch(/^HTTP\/1\.1 200 OK.*secure/s);
    },
  );

  it('accepts a request that arrives byte by byte', async () => {
    const port = await start();
    const connection = plain(port);
    for (const byte of LAST_REQUEST) {
      connection.socket.write(byte);
      await sleep(1);
    }
    expect(await connection.closed).toContain('plain');
  });

  it('answers several requests of one connection in order', async () => {
    const port = await start((request, response) => response.end(`<${request.url}>`));
    for (const connection of [plain(port), await secure(port)]) {
      const targets = ['/a', '/b', '/c'];
      connection.socket.write(targets.map((target) => REQUEST.replace('/', target)).join(''));
      await connection.until('</c>');
      expect(connection.received().match(/<[^>]*>/g)).toEqual(['</a>', '</b>', '</c>']);
    }
  });

  it('closes connections of other protocols, and continues', async () => {
    const port = await start();
    const garbage = [
      Buffer.from('nonsense\r\n\r\n'),
      Buffer.from([0x00]),
      Buffer.from([0x80, 0x2e, 0x01]),
      Buffer.from([0x16]),
      Buffer.from([0x16, 0x03, 0x01, 0xff, 0xff, 0x01]),
      Buffer.concat([Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05]), Buffer.alloc(5, 0xff)]),
      Buffer.concat([Buffer.from([0x16]), Buffer.alloc(100_000, 0x16)]),
    ];
    for (const bytes of garbage) {
      const connection = plain(port);
      connection.socket.end(bytes);
      await closesSoon(connection);
    }
    const silent = plain(port);
    silent.socket.end();
    await closesSoon(silent);
    const reset = plain(port);
    await once(reset.socket, 'connect');
    reset.socket.resetAndDestroy();
    const connection = await secure(port);
    connection.socket.write(LAST_REQUEST);
    expect(await connection.closed).toContain('secure');
  });

  it('speaks TLS 1.2 and newer', async () => {
    const port = await start();
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT:@SECLEVEL=0',
    });
    sockets.push(socket);
    const [error]: unknown[] = await once(socket, 'error');
    expect(String(error)).toMatch(/alert|unsupported|protocol/i);
  });
});

describe('timeouts', () => {
  it('close a connection that sends nothing', async () => {
    const port = await start(answerKind, { firstByteMs: SHORT_MS });
    expect(await closesSoon(plain(port))).toBe('');
  });

  it('close a connection that does not finish the TLS handshake', async () => {
    const port = await start(answerKind, { handshakeMs: SHORT_MS });
    const connection = plain(port);
    connection.socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]));
    await closesSoon(connection);
  });

  it.each(['plain', 'secure'])('close a connection that sends headers slowly (%s)', async (kind) => {
    let handled = 0;
    const port = await start(() => handled++, { headersMs: SHORT_MS });
    const connection = kind === 'plain' ? plain(port) : await secure(port);
    connection.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n');
    const drip = setInterval(() => connection.socket.write('X-Slow: 1\r\n'), 20);
    expect(await closesSoon(connection)).toMatch(/^(HTTP\/1\.1 408 |$)/);
    clearInterval(drip);
    expect(handled).toBe(0);
  });

  it('say that the time is over to a browser that opened a connection in advance', async () => {
    const port = await start(answerKind, { headersMs: SHORT_MS });
    const connection = await secure(port);
    expect(await closesSoon(connection)).toMatch(/^HTTP\/1\.1 408 /);
  });

  it.each(['plain', 'secure'])('close a connection that sends a body slowly (%s)', async (kind) => {
    const port = await start((request) => request.resume(), { headersMs: SHORT_MS, requestMs: SHORT_MS });
    const connection = kind === 'plain' ? plain(port) : await secure(port);
    connection.socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n');
    const drip = setInterval(() => connection.socket.write('x'), 20);
    await closesSoon(connection);
    clearInterval(drip);
  });

  it.each(['plain', 'secure'])('close an idle connection (%s)', async (kind) => {
    const port = await start(answerKind, { keepAliveMs: SHORT_MS });
    const connection = kind === 'plain' ? plain(port) : await secure(port);
    connection.socket.write(REQUEST);
    await connection.until(kind);
    await closesSoon(connection);
  });

  it.each(['plain', 'secure'])('close a connection that does not read the answer (%s)', async (kind) => {
    const cut = Promise.withResolvers<void>();
    const port = await start(
      (_request, response) => response.on('close', cut.resolve).end(Buffer.alloc(64 * 1024 * 1024)),
      { stalledMs: SHORT_MS },
    );
    const connection = kind === 'plain' ? plain(port) : await secure(port);
    connection.socket.pause();
    connection.socket.write(REQUEST);
    await cut.promise;
    connection.socket.resume();
    await closesSoon(connection);
    expect(connection.received().length).toBeLessThan(64 * 1024 * 1024);
  });

  it('close no connection that is within the limits', async () => {
    const port = await start(answerKind, {
      firstByteMs: 2_000,
      handshakeMs: 2_000,
      headersMs: 2_000,
      keepAliveMs: 2_000,
    });
    const connection = await secure(port);
    for (let sent = 0; sent < 5; sent++) {
      connection.socket.write(REQUEST);
      await sleep(500);
    }
    connection.socket.write(LAST_REQUEST);
    expect((await connection.closed).match(/200 OK/g)).toHaveLength(6);
  });
});

describe('the certificate', () => {
  it('changes for new handshakes while existing connections continue', async () => {
    const port = await start();
    const before = await secure(port);
    const next = await newPair();
    listener?.setCertificate(next);
    const after = await secure(port, next);
    if (!(after.socket instanceof TLSSocket) || !(before.socket instanceof TLSSocket))
      throw new Error('no TLS');
    const fingerprint = (cert: string) => new X509Certificate(cert).fingerprint256;
    expect(after.socket.getPeerX509Certificate()?.fingerprint256).toBe(fingerprint(next.cert));
    expect(before.socket.getPeerX509Certificate()?.fingerprint256).toBe(fingerprint(pair.cert));
    for (const connection of [before, after]) {
      connection.socket.write(LAST_REQUEST);
      expect(await connection.closed).toContain('secure');
    }
  });

  it('does not change if the new one is invalid', async () => {
    const port = await start();
    expect(() => listener?.setCertificate({ cert: 'nonsense', key: 'nonsense' })).toThrow();
    expect((await secure(port)).socket.readable).toBe(true);
  });
});

describe('close', () => {
  it.each(['plain', 'secure'])('answers a request in progress (%s)', async (kind) => {
    const asked = Promise.withResolvers<ServerResponse>();
    const port = await start((_request, response) => asked.resolve(response));
    const connection = kind === 'plain' ? plain(port) : await secure(port);
    connection.socket.write(REQUEST);
    const response = await asked.promise;
    const closed = listener?.close(30_000);
    const refused = plain(port);
    expect(await refused.closed).toBe('');
    await sleep(SHORT_MS);
    response.end('late');
    expect(await connection.closed).toMatch(/200 OK.*late/s);
    await closed;
  });

  it('does not wait for connections without a request', async () => {
    const port = await start();
    const silent = plain(port);
    const handshaken = await secure(port);
    const used = [plain(port), await secure(port)];
    for (const connection of used) connection.socket.write(REQUEST);
    await used[0]?.until('plain');
    await used[1]?.until('secure');
    // Longer than the test's timeout.
    await listener?.close(10 * MINUTE_MS);
    for (const connection of [silent, handshaken, ...used]) await connection.closed;
  });

  it('destroys connections that do not finish in time', async () => {
    const begins = Promise.withResolvers<void>();
    const port = await start(() => begins.resolve());
    const connection = await secure(port);
    connection.socket.write(REQUEST);
    await begins.promise;
    const begun = performance.now();
    await listener?.close(SHORT_MS);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(SHORT_MS - 5);
    await connection.closed;
  });
});
