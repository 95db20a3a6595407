import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { afterEach, describe, expect, test } from 'vitest';
import {
  createTestPki,
  type SiteOptions,
  startPlainServer,
  startTlsServer,
} from '../../test/servers/tls-servers.ts';
import { systemClock } from '../clock.ts';
import type { DnsResolver } from '../dns/resolver.ts';
import { createAddressPolicy } from './address-policy.ts';
import { createVisitor, VisitFailure, type VisitProblem } from './visitor.ts';

const pki = await createTestPki(['site.example']);
const never = new AbortController().signal;

const running: { remove(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.remove()));
});

async function serve(answer: RequestListener, options: SiteOptions = {}): Promise<number> {
  const site = await startPlainServer({ ...options, answer });
  running.push(site);
  return site.port;
}

/** A server of anything but HTTP. */
async function serveRaw(onData: (socket: Socket) => void): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.once('data', () => onData(socket));
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

/** Answers A questions from lists: the first list to the first question for a name, and so on; the last one stays. */
function fakeResolver(names: Record<string, string[][]>): DnsResolver & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    servers: [],
    async resolve(name, type) {
      const found = names[name];
      if (type === 'A') asked.push(name);
      const turn = asked.filter((one) => one === name).length - 1;
      const addresses = found?.[Math.min(turn, found.length - 1)] ?? [];
      return {
        server: { host: '192.0.2.53', port: 53 },
        rcode: found ? 'NOERROR' : 'NXDOMAIN',
        authoritative: false,
        answers: (type === 'A' ? addresses : []).map((address) => ({
          type: 'A',
          hdr: { name, rrtype: 1, class: 1, ttl: 0, rdlength: 4 },
          address,
        })),
        authorities: [],
        additionals: [],
      };
    },
  };
}

interface Circumstances {
  ports?: { http?: number; https?: number };
  names?: Record<string, string[][]>;
  resolver?: DnsResolver;
  limitMs?: number;
}

/** May contact 127.0.0.1 and the public, nothing else. */
function visitorWith({ ports, names, resolver, limitMs = 5000 }: Circumstances = {}) {
  return createVisitor({
    resolver: resolver ?? fakeResolver(names ?? { 'site.example': [['127.0.0.1']] }),
    policy: createAddressPolicy([ipaddr.parseCIDR('127.0.0.1/32')]),
    clock: systemClock,
    extraRoots: [pki.root],
    portsOf: () => ({ http: 1, https: 1, ...ports }),
    limitMs,
  });
}

async function problemOf(visit: Promise<unknown>): Promise<{ problem: VisitProblem; message: string }> {
  try {
    await visit;
  } catch (error) {
    if (error instanceof VisitFailure) return error;
    throw error;
  }
  throw new Error('The visit succeeded.');
}

const url = (text = 'http://site.example/') => new URL(text);
const get = (port: number, circumstances: Circumstances = {}) =>
  visitorWith({ ports: { http: port }, ...circumstances }).get(url(), '127.0.0.1', never);

describe('one GET', () => {
  test('asks for the path of the URL, with its host, at the port that stands for http', async () => {
    let seen: IncomingMessage | undefined;
    const port = await serve((request, response) => {
      seen = request;
      response.writeHead(404, { 'x-one': ['a', 'b'] }).end('nothing hére');
    });
    const visitor = visitorWith({ ports: { http: port } });
    const visit = await visitor.get(url('http://Site.example/a%20b?c=d#e'), '127.0.0.1', never);
    expect(visit).toMatchObject({ status: 404, body: 'nothing hére', location: null });
    expect(visit.headers['x-one']).toBe('a, b');
    expect(seen).toMatchObject({ method: 'GET', url: '/a%20b?c=d' });
    expect(seen?.headers).toMatchObject({ host: 'site.example', 'user-agent': 'Homeport domain check' });
  });

  test('speaks TLS for https, whatever the certificate', async () => {
    const site = await startTlsServer(pki.chains.expired);
    running.push(site);
    const visitor = visitorWith({ ports: { https: site.port } });
    const visit = await visitor.get(url('https://elsewhere.example/'), '127.0.0.1', never);
    expect(visit.body).toBe('hello');
  });

  test('goes to the port that the URL names', async () => {
    const port = await serve((_request, response) => response.end('here'));
    const visit = await visitorWith().get(url(`http://site.example:${port}/`), '127.0.0.1', never);
    expect(visit.body).toBe('here');
  });

  test('says where a redirect leads and does not go there', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(301, { location: '/there' });
      response.write('a body that never ends');
    });
    const visit = await get(port);
    expect(visit).toMatchObject({ status: 301, body: '' });
    expect(visit.location?.href).toBe('http://site.example/there');
  });

  test('reads of an endless body as much as it may, and closes', async () => {
    const closed = Promise.withResolvers<void>();
    const port = await serve((_request, response) => {
      const pour = () => {
        while (response.write('x'.repeat(1000)) && !response.destroyed);
      };
      response.on('drain', pour).on('close', () => closed.resolve());
      pour();
    });
    const visitor = visitorWith({ ports: { http: port } });
    const visit = await visitor.get(url(), '127.0.0.1', never, { maxBytes: 2500 });
    expect(visit.body).toBe('x'.repeat(2500));
    await closed.promise;
    expect((await get(port)).body).toHaveLength(65_536);
  });

  test('ends at the limit where the body drips, where nothing is said, and when the caller gives up', async () => {
    const drips = await serve((_request, response) => {
      const timer = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(timer));
    });
    const silent = await serveRaw(() => {});
    expect((await problemOf(get(drips, { limitMs: 60 }))).problem).toBe('timeout');
    const failure = await problemOf(get(silent, { limitMs: 60 }));
    expect(failure.problem).toBe('timeout');
    expect(failure.message).toMatch(/^site\.example at 127\.0\.0\.1:\d+ does not answer in time/);
    const visitor = visitorWith({ ports: { http: drips } });
    const signal = AbortSignal.timeout(60);
    expect((await problemOf(visitor.get(url(), '127.0.0.1', signal))).problem).toBe('timeout');
    expect((await problemOf(visitor.get(url(), '127.0.0.1', AbortSignal.abort()))).problem).toBe('timeout');
  });

  test.each<[VisitProblem, string, (socket: Socket) => void]>([
    ['reset', 'a reset', (socket) => socket.resetAndDestroy()],
    ['reset', 'the end of the connection', (socket) => socket.end()],
    ['reset', 'half an answer', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')],
    ['not_http', 'another protocol', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
    ['not_http', 'endless headers', (socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}`)],
    [
      'not_http',
      'another protocol that it switches to',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ],
  ])('fails as %s for %s', async (problem, _what, answer) => {
    expect((await problemOf(get(await serveRaw(answer)))).problem).toBe(problem);
  });

  test('fails as tls where https is not spoken, and as refused where nobody listens', async () => {
    const port = await serve((_request, response) => response.end());
    const visitor = visitorWith({ ports: { https: port } });
    const noTls = await problemOf(visitor.get(url('https://site.example/'), '127.0.0.1', never));
    expect(noTls.problem).toBe('tls');
    const site = await startPlainServer();
    await site.remove();
    expect((await problemOf(get(site.port))).problem).toBe('refused');
  });

  test.each(['127.0.0.2', '10.0.0.1', '::1', '::ffff:127.0.0.2', '169.254.169.254', 'site.example'])(
    'never goes to %s',
    async (address) => {
      const failure = await problemOf(visitorWith().get(url(), address, never));
      expect(failure.problem).toBe('private_address');
      expect(failure.message).toContain(address);
    },
  );

  test('opens no other schemes, and no URL with a password', async () => {
    const visitor = visitorWith();
    for (const text of ['ftp://site.example/', 'file:///etc/passwd', 'http://user:secret@site.example/']) {
      const failure = await problemOf(visitor.get(url(text), '127.0.0.1', never));
      expect(failure.problem).toBe('bad_redirect');
      expect(failure.message).not.toContain('secret');
    }
  });
});

describe('targets', () => {
  test('are all addresses of a name, each judged', async () => {
    const visitor = visitorWith({ names: { 'site.example': [['127.0.0.1', '10.0.0.1', '8.8.8.8']] } });
    expect(await visitor.targets('site.example.', never)).toEqual([
      { address: '127.0.0.1', family: 4, allowed: true },
      { address: '10.0.0.1', family: 4, allowed: false },
      { address: '8.8.8.8', family: 4, allowed: true },
    ]);
  });

  test('are IP literals themselves, judged too', async () => {
    const visitor = visitorWith();
    expect(await visitor.targets('[::1]', never)).toEqual([{ address: '::1', family: 6, allowed: false }]);
    expect(await visitor.targets('127.0.0.1', never)).toEqual([
      { address: '127.0.0.1', family: 4, allowed: true },
    ]);
  });
});

/** Redirects by path: `/1` to what stands at 1. */
function redirects(to: Record<string, string>): RequestListener {
  return (request, response) => {
    const location = to[request.url ?? ''];
    if (location === undefined) response.end('arrived');
    else response.writeHead(302, { location }).end();
  };
}

describe('following redirects', () => {
  async function follow(to: Record<string, string>, circumstances: Circumstances = {}) {
    const port = await serve(redirects(to));
    return visitorWith({ ports: { http: port }, ...circumstances }).follow(url(), never);
  }

  test('ends at the answer that is none, through names and relative addresses', async () => {
    const journey = await follow(
      { '/': 'http://other.example/a/b', '/a/b': 'c#part' },
      { names: { 'site.example': [['127.0.0.1']], 'other.example': [['127.0.0.1']] } },
    );
    expect(journey.urls).toEqual([
      'http://site.example/',
      'http://other.example/a/b',
      'http://other.example/a/c',
    ]);
    expect(journey.last).toMatchObject({ status: 200, body: 'arrived' });
    expect(journey.failure).toBeNull();
  });

  const chain = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, at) => [at === 0 ? '/' : `/${at}`, `/${at + 1}`]));

  test('goes on for 10 of them and no more', async () => {
    const ten = await follow(chain(10));
    expect(ten.failure).toBeNull();
    expect(ten.urls).toHaveLength(11);
    const eleven = await follow(chain(11));
    expect(eleven.failure?.problem).toBe('too_many_redirects');
    expect(eleven.urls).toHaveLength(11);
    expect(eleven.last?.status).toBe(302);
  });

  test('names a loop', async () => {
    const journey = await follow({ '/': '/a', '/a': '/b', '/b': '/a#again' });
    expect(journey.failure?.problem).toBe('redirect_loop');
    expect(journey.failure?.message).toContain(
      'http://site.example/a → http://site.example/b → http://site.example/a',
    );
    expect(journey.urls).toHaveLength(3);
  });

  test.each([
    'http://127.0.0.2/',
    'http://10.0.0.1/',
    'http://[::ffff:127.0.0.2]/',
    'http://[::1]/',
    'http://0x7f.0.0.2/',
    'http://2130706434/',
    'http://169.254.169.254/latest/meta-data/',
    'http://inside.example/',
  ])('never leads to %s', async (location) => {
    const reached: string[] = [];
    const inside = await serve(
      (request, response) => {
        reached.push(request.url ?? '');
        response.end('secret');
      },
      { address: '127.0.0.2' },
    );
    const port = await serve(redirects({ '/': location }));
    const visitor = createVisitor({
      resolver: fakeResolver({ 'site.example': [['127.0.0.1']], 'inside.example': [['127.0.0.2']] }),
      policy: createAddressPolicy([ipaddr.parseCIDR('127.0.0.1/32')]),
      clock: systemClock,
      extraRoots: [],
      portsOf: (address) => ({ http: address === '127.0.0.1' ? port : inside, https: 1 }),
    });
    const journey = await visitor.follow(url(), never);
    expect(journey.failure?.problem).toBe('private_address');
    expect(journey.failure?.message).toContain(new URL(location).href);
    expect(journey.last?.status).toBe(302);
    expect(reached).toEqual([]);
  });

  test('never leads to this machine by the name localhost', async () => {
    const port = await serve(redirects({}));
    const visitor = createVisitor({
      resolver: fakeResolver({ 'site.example': [['127.0.0.1']] }),
      policy: createAddressPolicy([]),
      clock: systemClock,
      extraRoots: [],
      portsOf: () => ({ http: port, https: 1 }),
    });
    const journey = await visitor.follow(url('http://localhost/'), never);
    expect(journey.failure?.problem).toBe('private_address');
    expect(journey.last).toBeNull();
  });

  test('asks for the name anew at each hop, and once: an answer that turns private is refused', async () => {
    const resolver = fakeResolver({ 'site.example': [['127.0.0.1'], ['127.0.0.2']] });
    const port = await serve(redirects({ '/': '/again' }));
    const journey = await visitorWith({ ports: { http: port }, resolver }).follow(url(), never);
    expect(journey.failure?.problem).toBe('private_address');
    expect(journey.failure?.message).toContain('http://site.example/again leads to 127.0.0.2');
    expect(resolver.asked).toEqual(['site.example', 'site.example']);
  });

  test('connects to the address that was checked, whatever the name says by then', async () => {
    const resolver = fakeResolver({ 'site.example': [['127.0.0.1'], ['127.0.0.2']] });
    const port = await serve((_request, response) => response.end('the checked one'));
    const journey = await visitorWith({ ports: { http: port }, resolver }).follow(url(), never);
    expect(journey.last?.body).toBe('the checked one');
    expect(resolver.asked).toEqual(['site.example']);
  });

  test('begins at the address that was given, without a look-up', async () => {
    const resolver = fakeResolver({});
    const port = await serve(redirects({}));
    const visitor = visitorWith({ ports: { http: port }, resolver });
    expect((await visitor.follow(url(), never, { address: '127.0.0.1' })).last?.body).toBe('arrived');
    const elsewhere = await visitor.follow(url(), never, { address: '127.0.0.2' });
    expect(elsewhere.failure?.problem).toBe('private_address');
    expect(resolver.asked).toEqual([]);
  });

  test('tries the next allowed address of a name', async () => {
    const port = await serve(redirects({}));
    const visitor = createVisitor({
      resolver: fakeResolver({ 'site.example': [['10.0.0.1', '127.0.0.3', '127.0.0.1']] }),
      policy: createAddressPolicy([ipaddr.parseCIDR('127.0.0.0/8')]),
      clock: systemClock,
      extraRoots: [],
      portsOf: () => ({ http: port, https: 1 }),
    });
    const journey = await visitor.follow(url(), never);
    expect(journey.last?.body).toBe('arrived');
  });

  test.each([
    'ftp://site.example/',
    'javascript:alert(1)',
    'http://',
    'http://user:secret@site.example/',
    `http://site.example/${'x'.repeat(5000)}`,
  ])('does not go to %s', async (location) => {
    const journey = await follow({ '/': location });
    expect(journey.failure?.problem).toBe('bad_redirect');
    expect(journey.failure?.message.length).toBeLessThan(400);
    expect(journey.failure?.message).not.toContain('secret');
    expect(journey.urls).toEqual(['http://site.example/']);
  });

  test('ends at a name that does not exist, and at one without an address', async () => {
    const names = { 'site.example': [['127.0.0.1']], 'empty.example': [[]] };
    const missing = await follow({ '/': 'http://missing.example/' }, { names });
    expect(missing.failure?.problem).toBe('unresolved');
    expect(missing.failure?.message).toContain('missing.example');
    const empty = await follow({ '/': 'http://empty.example/' }, { names });
    expect(empty.failure?.problem).toBe('unresolved');
  });

  test('ends when the caller gives up', async () => {
    const port = await serveRaw(() => {});
    const journey = await visitorWith({ ports: { http: port } }).follow(url(), AbortSignal.timeout(60));
    expect(journey).toMatchObject({ urls: ['http://site.example/'], last: null });
    expect(journey.failure?.problem).toBe('timeout');
  });
});
