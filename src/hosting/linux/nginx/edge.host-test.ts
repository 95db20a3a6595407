import { once } from 'node:events';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../lib/durations.ts';
import { certificateFor, sendRaw } from '../../policy/edge.fixture.ts';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';

const alpha = siteState('alpha', [
  'alpha.test',
  { name: 'secure.test', forceHttps: true, certificate: await certificateFor('secure.test') },
  { name: 'waiting.test', forceHttps: true },
  { name: 'old.test', redirectTo: 'alpha.test' },
  { name: 'to-secure.test', redirectTo: 'secure.test' },
  { name: '*.wild.test', certificate: await certificateFor('*.wild.test') },
]);
const beta = siteState('beta', ['beta.test', 'exact.wild.test']);

let server: TestServer;
let httpPort: number;
let httpsPort: number;

beforeAll(async () => {
  server = await startServer();
  httpPort = server.options.edgeHttp.port;
  httpsPort = server.options.edgeHttps.port;
  await server.web.start([await server.makeInstall(alpha), await server.makeInstall(beta)]);
  await server.write(alpha, 'who.txt', 'alpha');
  await server.write(beta, 'who.txt', 'beta');
});
afterAll(() => server.close());

describe('which website answers', () => {
  test.each([
    ['alpha.test', 'alpha'],
    ['ALPHA.Test', 'alpha'],
    ['alpha.test.', 'alpha'],
    ['alpha.test:1234', 'alpha'],
    ['beta.test', 'beta'],
    ['any.wild.test', 'alpha'],
    ['exact.wild.test', 'beta'],
  ])('%s is %s', async (hostname, content) => {
    expect(await server.http(hostname, '/who.txt')).toMatchObject({ status: 200, text: content });
    expect(await server.https(hostname, '/who.txt')).toMatchObject({ status: 200, text: content });
  });

  test.each(['other.test', 'a.b.wild.test', 'wild.test', '127.0.0.1', 'x.alpha.test', 'alphatest'])(
    '%s has no website',
    async (hostname) => {
      for (const answer of [await server.http(hostname, '/who.txt'), await server.https(hostname, '/')]) {
        expect(answer.status).toBe(404);
        expect(answer.text).toContain('No website here');
        expect(answer.headers).toMatchObject({
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-store',
        });
      }
    },
  );

  test('a target in absolute form overrules the Host header', async () => {
    const answer = await sendRaw(
      httpPort,
      'GET http://beta.test:81/?x HTTP/1.1\r\nHost: alpha.test\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toContain('"HTTP_HOST":"beta.test:81"');
  });

  test('HTTP/1.0 without a Host header, and HTTP/1.1 without one', async () => {
    expect(await sendRaw(httpPort, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 404 /);
    expect(await sendRaw(httpPort, 'GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('redirects', () => {
  test.each([
    ['http', 'secure.test:HTTP', '/a%20b/?c=%2F&d', 'https://secure.test:HTTPS/a%20b/?c=%2F&d'],
    ['http', 'secure.test', '/', 'https://secure.test/'],
    ['http', 'old.test:HTTP', '/x/?y=1', 'http://alpha.test:HTTP/x/?y=1'],
    [
      'https',
      'old.test:HTTPS',
      '//evil.test/%0d%0aSet-Cookie:x',
      'https://alpha.test:HTTPS//evil.test/%0d%0aSet-Cookie:x',
    ],
    ['http', 'old.test:80', '/', 'http://alpha.test/'],
    ['https', 'old.test:443', '/', 'https://alpha.test/'],
    ['http', 'old.test:443', '/', 'http://alpha.test:443/'],
    ['http', 'to-secure.test:HTTP', '/', 'https://secure.test:HTTPS/'],
    ['http', 'old.test', '/@evil.test', 'http://alpha.test/@evil.test'],
  ] as const)('%s %s%s', async (scheme, hostname, path, location) => {
    const withPorts = (text: string) =>
      text.replace('HTTPS', String(httpsPort)).replace('HTTP', String(httpPort));
    const answer = await server[scheme](withPorts(hostname), path);
    expect(answer.status).toBe(301);
    expect(answer.headers).toMatchObject({ location: withPorts(location), 'cache-control': 'no-cache' });
  });

  test('none to HTTPS where no certificate is', async () => {
    expect((await server.http('waiting.test', '/who.txt')).text).toBe('alpha');
    expect((await server.https('secure.test', '/who.txt')).text).toBe('alpha');
  });

  test.each(['/\\evil.test', '/a\\b', '/a b', '/\x01', '@evil.test/', '/\xe9'])(
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

describe('proofs', () => {
  const path = '/.well-known/acme-challenge/token_-1';

  test.each(['old.test', 'secure.test', 'beta.test', 'nobody.test'])(
    'on %s, before any redirect, over both schemes',
    async (hostname) => {
      await server.web.publish({ hostname, path, text: `proof of ${hostname}` });
      for (const answer of [
        await server.http(hostname, path),
        await server.https(`${hostname}:${httpsPort}`, path),
      ]) {
        expect(answer).toMatchObject({ status: 200, text: `proof of ${hostname}` });
        expect(answer.headers).toMatchObject({
          'content-type': 'text/plain; charset=utf-8',
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        });
      }
      expect((await server.http('alpha.test', path)).text).not.toContain('proof');
      await server.web.withdraw({ hostname, path });
      expect((await server.http(hostname, path)).text).not.toContain('proof');
    },
  );

  test('an end after a day', async () => {
    const check = '/.well-known/homeport-check/abc';
    await server.web.publish({ hostname: 'beta.test', path: check, text: 'checked' });
    server.clock.advance(DAY_MS - 1);
    await server.web.sweepProofs();
    expect((await server.http('beta.test', check)).text).toBe('checked');
    server.clock.advance(1);
    await server.web.sweepProofs();
    expect((await server.http('beta.test', check)).status).toBe(404);
  });

  test('without one: the file of the install, WordPress, or nothing', async () => {
    await server.write(beta, '.well-known/acme-challenge/own', 'the customer’s');
    expect((await server.http('beta.test', '/.well-known/acme-challenge/own')).text).toBe('the customer’s');
    expect((await server.http('beta.test', '/.well-known/acme-challenge/none')).text).toContain(
      '"SCRIPT_NAME"',
    );
    expect((await server.http('old.test', '/.well-known/acme-challenge/none')).status).toBe(301);
    await server.write(beta, '.well-known/homeport-check/own', 'never');
    expect((await server.http('beta.test', '/.well-known/homeport-check/own')).status).toBe(404);
    expect((await server.http('beta.test', '/.well-known/homeport/storage.html')).status).toBe(404);
  });

  test.each([
    ['Beta.test', path],
    ['../beta.test', path],
    ['beta.test', '/.well-known/acme-challenge/../../x'],
    ['beta.test', '/elsewhere/x'],
  ])('none at %s%s', async (hostname, where) => {
    await expect(server.web.publish({ hostname, path: where, text: 'x' })).rejects.toThrow(
      /cannot publish a challenge file/,
    );
  });
});

describe('certificates', () => {
  async function shown(
    servername: string | undefined,
  ): Promise<{ subject: string; protocol: string | false | null }> {
    const socket = tlsConnect({
      host: '127.0.0.1',
      port: httpsPort,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2', 'http/1.1'],
      ...(servername ? { servername } : {}),
    });
    await once(socket, 'secureConnect');
    const subject = String(socket.getPeerCertificate().subject.CN);
    const protocol = socket.alpnProtocol;
    socket.destroy();
    return { subject, protocol };
  }

  test.each([
    ['secure.test', 'secure.test'],
    ['SECURE.test', 'secure.test'],
    ['a.wild.test', '*.wild.test'],
    ['exact.wild.test', 'hosting.test'],
    ['alpha.test', 'hosting.test'],
    ['unknown.test', 'hosting.test'],
    [undefined, 'hosting.test'],
  ])('%s shows that of %s, and HTTP/2', async (servername, subject) => {
    expect(await shown(servername)).toEqual({ subject, protocol: 'h2' });
  });

  test('nothing older than TLS 1.2', async () => {
    const socket = tlsConnect({
      host: '127.0.0.1',
      port: httpsPort,
      rejectUnauthorized: false,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    await expect(once(socket, 'secureConnect')).rejects.toThrow(/alert|version|disconnected/i);
  });

  test('a session goes on', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const visit = async (session?: Buffer) => {
        const socket = tlsConnect({
          host: '127.0.0.1',
          port: httpsPort,
          servername: 'secure.test',
          rejectUnauthorized: false,
          minVersion: version,
          maxVersion: version,
          ...(session ? { session } : {}),
        });
        let given = session;
        socket.on('session', (ticket: Buffer) => {
          given = ticket;
        });
        await once(socket, 'secureConnect');
        const resumed = socket.isSessionReused();
        socket.write('GET /who.txt HTTP/1.1\r\nHost: secure.test\r\nConnection: close\r\n\r\n');
        socket.resume();
        await once(socket, 'close');
        return { resumed, session: given };
      };
      const first = await visit();
      expect(first.resumed).toBe(false);
      expect((await visit(first.session)).resumed).toBe(true);
    }
  });
});

describe('PHP', () => {
  const asked = async (path: string, options = {}, hostname = 'alpha.test') =>
    JSON.parse((await server.http(hostname, path, options)).text);

  test('receives its host name and port, and runs as the install', async () => {
    expect(await asked(`/some/page?a=b&c`, {}, `alpha.test:${httpPort}`)).toMatchObject({
      HTTP_HOST: `alpha.test:${httpPort}`,
      REQUEST_URI: '/some/page?a=b&c',
      SCRIPT_NAME: '/index.php',
      SCRIPT_FILENAME: join(server.layout.htdocsOf(alpha.id), 'index.php'),
      QUERY_STRING: 'a=b&c',
      SERVER_NAME: 'alpha.test',
      REMOTE_ADDR: '127.0.0.1',
      uid: expect.any(Number),
    });
    expect(await asked('/')).toMatchObject({ HTTP_HOST: 'alpha.test', REQUEST_URI: '/' });
    expect(JSON.parse((await server.https('alpha.test', '/')).text)).toMatchObject({ HTTPS: 'on' });
    expect(await asked('/index.php/2026/post?x')).toMatchObject({
      PATH_INFO: '/2026/post',
      SCRIPT_NAME: '/index.php',
    });
  });

  test('visitors cannot set what it trusts', async () => {
    const told = await asked('/?proxy', {
      headers: { Proxy: 'http://evil.test', 'Accept-Encoding': 'gzip' },
    });
    expect(told.HTTP_PROXY ?? '').toBe('');
    expect(told.HTTP_ACCEPT_ENCODING ?? '').toBe('');
  });

  test('takes bodies of 65 MB and no more: an upload of 64 MB with its form', async () => {
    const megabyte = 1024 * 1024;
    const post = (size: number) =>
      server.http('alpha.test', '/?up', { method: 'POST', body: Buffer.alloc(size) });
    expect(JSON.parse((await post(65 * megabyte)).text)).toMatchObject({
      length: 65 * megabyte,
      REQUEST_METHOD: 'POST',
    });
    const refused = await post(65 * megabyte + 1).catch(() => null);
    if (refused !== null) expect(refused).toMatchObject({ status: 413 });
  });

  test('what is not there is WordPress’s to answer, a missing program is not there', async () => {
    expect(await asked('/missing.png')).toMatchObject({ SCRIPT_NAME: '/index.php' });
    expect((await server.http('alpha.test', '/missing.php')).status).toBe(404);
    expect((await server.http('alpha.test', '/who.txt/x.php')).status).toBe(404);
  });

  test('does not answer: a notice', async () => {
    const silent = siteState('silent', ['silent.test']);
    await server.web.put(await server.makeInstall(silent, { php: false }));
    const answer = await server.http('silent.test', '/');
    expect(answer.status).toBe(502);
    expect(answer.text).toContain('does not answer');
  });

  test('cannot have nginx serve what it names', async () => {
    const answer = await server.http('alpha.test', '/?header=X-Accel-Redirect:%20/who.txt&1');
    expect(JSON.parse(answer.text)).toMatchObject({ SCRIPT_NAME: '/index.php' });
  });
});
