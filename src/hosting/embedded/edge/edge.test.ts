import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { connect, createServer } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, certificateFor, eventually, sendRaw, siteState } from '../../policy/edge.fixture.ts';
import { LOCAL, startHost, type TestHost } from '../embedded-host.fixture.ts';
import { createEmbeddedHost } from '../embedded-host.ts';

const alpha = siteState('alpha', [
  'alpha.test',
  { name: 'secure.test', forceHttps: true, certificate: await certificateFor('secure.test') },
  { name: 'old.test', redirectTo: 'alpha.test' },
  '*.wild.test',
]);
const beta = siteState('beta', ['beta.test', 'exact.wild.test']);

let site: TestHost;
let httpPort: number;
let httpsPort: number;

beforeAll(async () => {
  site = await startHost();
  httpPort = site.host.addresses?.edgeHttp.port ?? 0;
  httpsPort = site.host.addresses?.edgeHttps.port ?? 0;
  await site.host.apply(alpha);
  await site.host.apply(beta);
  await site.write(alpha, 'index.html', 'alpha');
  await site.write(beta, 'index.html', 'beta');
  for (const install of [alpha, beta]) await site.host.purge(install, 'page');
});
afterAll(() => site.close());

describe('which website answers', () => {
  test.each([
    ['alpha.test', 'alpha'],
    ['ALPHA.Test', 'alpha'],
    ['alpha.test.', 'alpha'],
    ['alpha.test:1234', 'alpha'],
    ['beta.test', 'beta'],
    ['alpha.hosting.test', 'alpha'],
    ['beta.hosting.test', 'beta'],
    ['any.wild.test', 'alpha'],
    ['exact.wild.test', 'beta'],
  ])('%s is %s', async (hostname, content) => {
    expect(await site.http(hostname, '/')).toMatchObject({ status: 200, text: content });
    expect(await site.https(hostname, '/')).toMatchObject({ status: 200, text: content });
  });

  test.each([
    'other.test',
    'a.b.wild.test',
    'wild.test',
    'hosting.test',
    '127.0.0.1',
    'x.alpha.test',
    'alphatest',
  ])('%s has no website', async (hostname) => {
    const answer = await site.http(hostname, '/');
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('No website here');
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('search engines are kept away from default domains only', async () => {
    const robots = async (name: string, path: string) =>
      (await site.http(name, path)).headers['x-robots-tag'];
    expect([await robots('alpha.hosting.test', '/'), await robots('alpha.hosting.test', '/missing')]).toEqual(
      ['noindex', 'noindex'],
    );
    expect([await robots('alpha.test', '/'), await robots('other.test', '/')]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('left-over files are not shown', async () => {
    for (const path of ['dump.sql', 'site.tar.gz', 'downloads/site.zip']) await site.write(alpha, path, 'x');
    const statuses = ['/dump.sql', '/a/../dump.sql', '/site.tar.gz', '/downloads/site.zip'].map(
      async (path) => (await site.http('alpha.test', path)).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 400, 404, 200]);
  });

  test('a target in absolute form takes precedence over the Host header', async () => {
    const answer = await sendRaw(
      httpPort,
      'GET http://beta.test/ HTTP/1.1\r\nHost: alpha.test\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/\r\n\r\nbeta$/);
  });

  test('several Host headers are refused over HTTP and HTTPS', async () => {
    const twice = 'GET / HTTP/1.1\r\nHost: alpha.test\r\nhost: beta.test\r\n\r\n';
    expect(await sendRaw(httpPort, twice)).toMatch(/^HTTP\/1\.1 400 /);
    const socket = tlsConnect({ port: httpsPort, host: '127.0.0.1', rejectUnauthorized: false });
    socket.write(twice);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each([[['http/1.0']], [['http/1.1']], [['http/1.1', 'http/1.0']], [undefined]])(
    'HTTP/1.0 over TLS from a client that offers %j',
    async (offered) => {
      const options = { port: httpsPort, host: '127.0.0.1', rejectUnauthorized: false };
      const socket = tlsConnect({ ...options, ...(offered && { ALPNProtocols: offered }) });
      socket.write('GET / HTTP/1.0\r\nHost: alpha.test\r\n\r\n');
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nalpha$/s);
    },
  );

  test('HTTP/1.0 without a Host header, and HTTP/1.1 without one', async () => {
    expect(await sendRaw(httpPort, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 404 /);
    expect(await sendRaw(httpPort, 'GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('redirects', () => {
  test('HTTP to HTTPS, with the port of the HTTPS listener', async () => {
    expect(await site.http(`secure.test:${httpPort}`, '/a%20b?c=%2F&d')).toMatchObject({
      status: 301,
      headers: { location: `https://secure.test:${httpsPort}/a%20b?c=%2F&d` },
    });
    // Forwarded from port 80, so presumably from 443 too.
    expect((await site.http('secure.test', '/')).headers.location).toBe('https://secure.test/');
    expect((await site.https(`secure.test:${httpsPort}`, '/')).text).toBe('alpha');
  });

  test('to the target domain, on either scheme, verbatim', async () => {
    expect((await site.http(`old.test:${httpPort}`, '/x/?y=1')).headers.location).toBe(
      `http://alpha.test:${httpPort}/x/?y=1`,
    );
    expect(
      (await site.https(`old.test:${httpsPort}`, '//evil.test/%0d%0aSet-Cookie:x')).headers.location,
    ).toBe(`https://alpha.test:${httpsPort}//evil.test/%0d%0aSet-Cookie:x`);
  });

  test.each(['/\\evil.test', '/a\\b', '\\\\evil.test', '@evil.test/', '/a b', '/\x01'])(
    'never for %j',
    async (path) => {
      const answer = await sendRaw(
        httpPort,
        `GET ${path} HTTP/1.1\r\nHost: old.test\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).not.toMatch(/location/i);
    },
  );
});

describe('methods', () => {
  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'])('%s is not allowed', async (method) => {
    expect(await site.http('alpha.test', '/', { method })).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS', connection: 'close' },
    });
  });

  test('OPTIONS lists the allowed methods', async () => {
    expect(await site.http('alpha.test', '/', { method: 'OPTIONS' })).toMatchObject({
      status: 204,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
  });
});

describe('certificates', () => {
  async function shown(servername: string | undefined, port = httpsPort): Promise<string> {
    const socket = tlsConnect({
      host: '127.0.0.1',
      port,
      rejectUnauthorized: false,
      ...(servername ? { servername } : {}),
    });
    await once(socket, 'secureConnect');
    const subject = String(socket.getPeerCertificate().subject.CN);
    socket.destroy();
    return subject;
  }

  test('each name gets its certificate, wildcards included; all other names get the edge certificate', async () => {
    const certified = siteState('certified', [
      { name: 'one.test', certificate: await certificateFor('one.test') },
      { name: 'two.test', certificate: await certificateFor('two.test') },
      { name: '*.three.test', certificate: await certificateFor('*.three.test') },
      'plain.test',
    ]);
    await site.host.apply(certified);
    expect(await shown('one.test')).toBe('one.test');
    expect(await shown('ONE.test')).toBe('one.test');
    expect(await shown('two.test')).toBe('two.test');
    expect(await shown('a.three.test')).toBe('*.three.test');
    expect(await shown('plain.test')).toBe('hosting.test');
    expect(await shown('unknown.test')).toBe('hosting.test');
    expect(await shown('alpha.hosting.test')).toBe('hosting.test');
    expect(await shown(undefined)).toBe('hosting.test');

    // A replaced certificate, and a removed one.
    const renewed = { ...certified, hostnames: certified.hostnames.map((hostname) => ({ ...hostname })) };
    renewed.hostnames[0] = {
      ...siteState('x', ['one.test']).hostnames[0],
      certificate: await certificateFor('renewed.test'),
    } as never;
    renewed.hostnames[1] = siteState('x', ['two.test']).hostnames[0] as never;
    await site.host.apply(renewed);
    expect(await shown('one.test')).toBe('renewed.test');
    expect(await shown('two.test')).toBe('hosting.test');
    await site.host.remove(certified);
    expect(await shown('one.test')).toBe('hosting.test');
  });

  test.each([
    ['TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'],
    ['TLS_AES_256_GCM_SHA384', 'TLS_AES_256_GCM_SHA384'],
    ['TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256', 'TLS_CHACHA20_POLY1305_SHA256'],
  ])('a visitor with the ciphers %s gets %s', async (ciphers, expected) => {
    const socket = tlsConnect({ host: '127.0.0.1', port: httpsPort, rejectUnauthorized: false, ciphers });
    await once(socket, 'secureConnect');
    expect(socket.getCipher().name).toBe(expected);
    socket.destroy();
  });

  test('a visitor who trusts the edge certificate reaches websites that have none', async () => {
    const ca = await import('node:fs/promises').then(({ readFile }) =>
      readFile(`${site.folder}/edge-certificate.pem`, 'utf8'),
    );
    const socket = tlsConnect({ host: '127.0.0.1', port: httpsPort, servername: 'alpha.hosting.test', ca });
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    socket.end('GET / HTTP/1.1\r\nHost: alpha.hosting.test\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/alpha$/);
  });
});

describe('visitors who misbehave', () => {
  test.each([
    'NONSENSE\r\n\r\n',
    'GET / HTTP/9.9\r\nHost: alpha.test\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: alpha.test\r\nBad Header: x\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: alpha.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ])('%j is a bad request', async (content) => {
    expect(await sendRaw(httpPort, content)).toMatch(/^HTTP\/1\.1 (400|505) /);
  });

  test('headers without end', async () => {
    const answer = await sendRaw(
      httpPort,
      `GET / HTTP/1.1\r\nHost: alpha.test\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('HTTP on the HTTPS port, and TLS on the HTTP port', async () => {
    await sendRaw(httpsPort, 'GET / HTTP/1.1\r\nHost: alpha.test\r\n\r\n').catch(() => undefined);
    const socket = tlsConnect({ host: '127.0.0.1', port: httpPort, rejectUnauthorized: false });
    await once(socket, 'error');
    expect((await site.https('alpha.test', '/')).text).toBe('alpha');
  });

  test('visitors who disconnect midway leak no file descriptors', async () => {
    await site.write(alpha, 'large.bin', Buffer.alloc(8 * 1024 * 1024));
    const opened = async () => {
      const links = await Promise.all(
        (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
      );
      return links.filter((path) => path.endsWith('large.bin')).length;
    };
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        const socket = connect({ host: '127.0.0.1', port: httpPort });
        socket.write('GET /large.bin HTTP/1.1\r\nHost: alpha.test\r\n\r\n');
        await once(socket, 'data');
        socket.pause();
        socket.destroy();
      }),
    );
    await eventually(async () => (await opened()) === 0);
    expect(site.log.filter(({ level }) => level >= 50)).toEqual([]);
  });

  test('a slow reader gets the whole file', async () => {
    const content = Buffer.alloc(8 * 1024 * 1024, 'abcdefg');
    await site.write(alpha, 'slow.bin', content);
    const socket = connect({ host: '127.0.0.1', port: httpPort });
    socket.write('GET /slow.bin HTTP/1.1\r\nHost: alpha.test\r\nConnection: close\r\n\r\n');
    await once(socket, 'readable');
    await sleep(100);
    const received = await buffer(socket);
    expect(received.subarray(received.indexOf('\r\n\r\n') + 4).equals(content)).toBe(true);
  });
});

test('a thousand visitors at once', async () => {
  const agent = new Agent({ maxSockets: 200, keepAlive: true });
  await site.write(alpha, 'many.html', 'x'.repeat(20_000));
  const one = (index: number) =>
    new Promise<string>((resolve, reject) => {
      const [host, path] = index % 2 === 0 ? ['alpha.test', '/many.html'] : ['beta.test', '/'];
      httpRequest({ host: '127.0.0.1', port: httpPort, path, headers: { Host: host }, agent })
        .on('response', (response) =>
          text(response).then((body) => resolve(`${response.statusCode} ${body.length}`), reject),
        )
        .on('error', reject)
        .end();
    });
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, index) => one(index)));
  expect(new Set(answers)).toEqual(new Set(['200 20000', '200 4']));
  agent.destroy();
});

test('concurrent misses of one page read the file once', async () => {
  await site.write(alpha, 'herd.html', 'herd');
  const answers = await Promise.all(Array.from({ length: 50 }, () => site.http('alpha.test', '/herd.html')));
  expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['herd']));
});

describe('starting', () => {
  test.each([
    ['edgeHttp', 'HOMEPORT_EDGE_HTTP'],
    ['edgeHttps', 'HOMEPORT_EDGE_HTTPS'],
  ] as const)('a port in use is an error that names the setting (%s)', async (which, setting) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const host = createEmbeddedHost({ ...site.options, [which]: { host: '127.0.0.1', port } });
    await expect(host.start()).rejects.toThrow(
      new RegExp(`cannot be served on 127.0.0.1:${port}: another program uses this port.*${setting}`),
    );
    expect(host.addresses).toBeNull();
    taken.close();
  });
});

describe('stopping', () => {
  test('finishes active requests, refuses new ones and closes idle connections', async () => {
    const stopping = await startHost({ graceMs: 100 });
    const install = siteState('gamma', ['gamma.test']);
    await stopping.host.apply(install);
    const content = Buffer.alloc(16 * 1024 * 1024, 'x');
    await stopping.write(install, 'large.bin', content);
    const port = stopping.host.addresses?.edgeHttp.port ?? 0;
    const tlsPort = stopping.host.addresses?.edgeHttps.port ?? 0;

    const idle = connect({ host: '127.0.0.1', port });
    const halfTls = connect({ host: '127.0.0.1', port: tlsPort });
    await Promise.all([once(idle, 'connect'), once(halfTls, 'connect')]);
    const slow = connect({ host: '127.0.0.1', port });
    slow.write('GET /large.bin HTTP/1.1\r\nHost: gamma.test\r\n\r\n');
    await once(slow, 'data');
    slow.pause();

    const stopped = stopping.host.stop(30_000);
    await sleep(150);
    let received = 0;
    slow.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    slow.resume();
    await once(slow, 'close');
    expect(received).toBeGreaterThan(content.length - 1_000_000);
    halfTls.destroy();
    await stopped;
    await expect(ask('http', port, 'gamma.test', '/')).rejects.toThrow('ECONNREFUSED');
    await stopping.close();
  });

  test('clients that do not read their response are cut after the timeout', async () => {
    const stopping = await startHost({ graceMs: 100 });
    const install = siteState('delta', ['delta.test']);
    await stopping.host.apply(install);
    await stopping.write(install, 'large.bin', Buffer.alloc(32 * 1024 * 1024));
    const socket = connect({ host: '127.0.0.1', port: stopping.host.addresses?.edgeHttp.port ?? 0 });
    socket.on('error', () => undefined);
    socket.write('GET /large.bin HTTP/1.1\r\nHost: delta.test\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    await stopping.close();
    socket.destroy();
  });
});

test('with listen: false nothing is bound', async () => {
  const worker = await startHost({ listen: false, edgeHttp: LOCAL });
  expect(worker.host.addresses).toBeNull();
  await worker.close();
});
