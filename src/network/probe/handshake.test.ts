import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import ipaddr from 'ipaddr.js';
import { afterEach, describe, expect, test } from 'vitest';
import { silent } from '../../../test/database.ts';
import {
  type ChainKind,
  createTestPki,
  startPlainServer,
  startTlsServer,
} from '../../../test/servers/tls-servers.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { createDnsResolver } from '../dns/resolver.ts';
import { createAddressPolicy } from './address-policy.ts';
import { createProber, type Handshake } from './prober.ts';

const HOST = 'www.site.example';
const pki = await createTestPki([HOST, 'site.example']);

const running: { remove(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.remove()));
});

interface Circumstances {
  host?: string;
  clock?: Clock;
  roots?: string[];
  limitMs?: number;
  signal?: AbortSignal;
}

function handshake(
  port: number,
  circumstances: Circumstances = {},
  address = '127.0.0.1',
): Promise<Handshake> {
  const { host = HOST, clock = systemClock, roots = [pki.root], limitMs, signal } = circumstances;
  const prober = createProber({
    resolver: createDnsResolver([]),
    policy: createAddressPolicy([ipaddr.parseCIDR('127.0.0.1/32')]),
    clock,
    extraRoots: roots,
    log: silent,
    portsOf: () => ({ http: 0, https: port }),
    ...(limitMs === undefined ? {} : { limitMs }),
  });
  return prober.handshake(host, address, signal ?? new AbortController().signal);
}

async function handshakeWith(kind: ChainKind, circumstances?: Circumstances): Promise<Handshake> {
  const server = await startTlsServer(pki.chains[kind]);
  running.push(server);
  return handshake(server.port, circumstances);
}

/** Answers each connection with fixed bytes. */
async function startRaw(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.push({
    remove: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const later = (days: number): Clock => ({ now: () => new Date(Date.now() + days * DAY_MS) });

describe('the certificate', () => {
  test('with a complete chain is read and accepted', async () => {
    const { certificate, failure } = await handshakeWith('good');
    expect(failure).toBeNull();
    expect(certificate).toMatchObject({
      issuer: 'Homeport Test Intermediate',
      commonName: HOST,
      dnsNames: [HOST, 'site.example'],
      signatureAlgorithm: 10,
      chainLength: 2,
    });
  });

  test('with a complete chain is refused if its root is not trusted', async () => {
    const { failure } = await handshakeWith('good', { roots: [] });
    expect(failure?.problem).toBe('unknown_issuer');
  });

  test.each<[ChainKind, RegExp]>([
    ['expired', /expired on \d{4}-\d\d-\d\d; renew it\.$/],
    ['not_yet_valid', /is valid only from \d{4}-\d\d-\d\d on/],
    ['wrong_name', /is for other\.example and does not cover it/],
    ['self_signed', /is self-signed/],
    ['incomplete_chain', /without the intermediate certificate of its issuer "Homeport Test Intermediate"/],
    ['unknown_issuer', /is signed by "Unknown Root", which browsers do not trust/],
  ])('that is %s is reported as such, and read', async (kind, sentence) => {
    const { certificate, failure } = await handshakeWith(kind === 'good' ? 'expired' : kind);
    expect(failure?.problem).toBe(kind);
    expect(failure?.sentence).toMatch(sentence);
    expect(failure?.sentence).toContain(HOST);
    expect(certificate?.dnsNames).not.toEqual([]);
  });

  test('is judged by the given clock', async () => {
    expect((await handshakeWith('good', { clock: later(90) })).failure?.problem).toBe('expired');
    expect((await handshakeWith('good', { clock: later(-2) })).failure?.problem).toBe('not_yet_valid');
    expect((await handshakeWith('expired', { clock: later(-2) })).failure).toBeNull();
    expect((await handshakeWith('not_yet_valid', { clock: later(2) })).failure).toBeNull();
    // Its issuer counts even if OpenSSL, which uses the system's time, reports only the expiry.
    const stranger = await handshakeWith('expired', { clock: later(-2), roots: [] });
    expect(stranger.failure?.problem).toBe('unknown_issuer');
  });

  test('must name the host; a wildcard names one label', async () => {
    expect((await handshakeWith('good', { host: 'site.example.' })).failure).toBeNull();
    expect((await handshakeWith('good', { host: 'sub.site.example' })).failure?.problem).toBe('wrong_name');
    expect((await handshakeWith('good', { host: '127.0.0.1' })).failure?.problem).toBe('wrong_name');
  });

  test('is the one for the name in SNI', async () => {
    const asked: string[] = [];
    const server = createTlsServer({
      cert: pki.chains.good.chain,
      key: pki.chains.good.key,
      SNICallback: (name, done) => {
        asked.push(name);
        done(null);
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { failure } = await handshake(port);
    await new Promise((resolve) => server.close(resolve));
    expect(failure).toBeNull();
    expect(asked).toEqual([HOST]);
  });
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'the server sees a whole handshake and a proper end over %s',
  async (version) => {
    const failed: Error[] = [];
    const ends: Promise<boolean>[] = [];
    const { chain, key } = pki.chains.good;
    const server = createTlsServer({ cert: chain, key, minVersion: version, maxVersion: version });
    server.on('tlsClientError', (error) => failed.push(error));
    server.on('secureConnection', (socket) => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      ends.push(promise);
      socket.on('error', () => resolve(false)).on('end', () => resolve(true));
      socket.resume();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const handshakes = await Promise.all(Array.from({ length: 5 }, () => handshake(port)));
    await new Promise((resolve) => server.close(resolve));
    expect(handshakes.map(({ failure }) => failure)).toEqual([null, null, null, null, null]);
    expect(failed).toEqual([]);
    expect(await Promise.all(ends)).toEqual([true, true, true, true, true]);
  },
);

describe('no certificate', () => {
  test('from a plain HTTP server', async () => {
    const server = await startPlainServer();
    running.push(server);
    const { certificate, failure } = await handshake(server.port);
    expect(certificate).toBeNull();
    expect(failure?.problem).toBe('no_tls');
    expect(failure?.sentence).toBe(
      `${HOST} at 127.0.0.1:${server.port} does not speak TLS; check that HTTPS is set up on this port.`,
    );
  });

  test('from a server of another protocol', async () => {
    const port = await startRaw((socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'));
    expect((await handshake(port)).failure?.problem).toBe('no_tls');
  });

  test('from a server that answers with an alert', async () => {
    // TLS record: alert, TLS 1.2, 2 bytes: fatal, unrecognized_name.
    const port = await startRaw((socket) =>
      socket.once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 112]))),
    );
    const { failure } = await handshake(port);
    expect(failure?.problem).toBe('alert');
    expect(failure?.sentence).toContain('unrecognized name');
  });

  test('over a connection that is reset or closed', async () => {
    const reset = await startRaw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect((await handshake(reset)).failure?.problem).toBe('reset');
    const closed = await startRaw((socket) => socket.once('data', () => socket.end()));
    expect((await handshake(closed)).failure?.problem).toBe('reset');
  });

  test('from a silent server, at the timeout and when the caller aborts', async () => {
    const port = await startRaw(() => {});
    expect((await handshake(port, { limitMs: 50 })).failure?.problem).toBe('timeout');
    expect((await handshake(port, { signal: AbortSignal.timeout(50) })).failure?.problem).toBe('timeout');
    expect((await handshake(port, { signal: AbortSignal.abort() })).failure?.problem).toBe('timeout');
  });

  test('at a closed port', async () => {
    const server = await startPlainServer();
    await server.remove();
    expect((await handshake(server.port)).failure?.problem).toBe('refused');
  });

  test('at a forbidden address, without connecting', async () => {
    let connections = 0;
    const port = await startRaw(() => {
      connections += 1;
    });
    const { failure } = await handshake(port, {}, '::ffff:127.0.0.2');
    expect(failure?.problem).toBe('private_address');
    expect(failure?.sentence).toContain('::ffff:127.0.0.2');
    expect((await handshake(port, {}, '127.0.0.2')).failure?.problem).toBe('private_address');
    expect(connections).toBe(0);
  });
});
