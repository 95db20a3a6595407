import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createTestPki, startPlainServer, startTlsServer } from '../../../test/servers/tls-servers.ts';
import {
  never,
  type ProberConditions,
  proberWith,
  removeServers,
  running,
  serve,
  serveRaw,
  url,
} from './prober.fixture.ts';
import { ProbeFailure, type ProbeProblem } from './prober.ts';

const pki = await createTestPki(['site.example']);
afterEach(removeServers);

async function problemOf(response: Promise<unknown>): Promise<{ problem: ProbeProblem; message: string }> {
  try {
    await response;
  } catch (error) {
    if (error instanceof ProbeFailure) return error;
    throw error;
  }
  throw new Error('The visit succeeded.');
}

const get = (port: number, circumstances: ProberConditions = {}) =>
  proberWith({ ports: { http: port }, ...circumstances }).get(url(), '127.0.0.1', never);

describe('get', () => {
  test('requests the path of the URL, with its host, at the configured http port', async () => {
    let seen: IncomingMessage | undefined;
    const port = await serve((request, response) => {
      seen = request;
      response.writeHead(404, { 'x-one': ['a', 'b'] }).end('nothing hére');
    });
    const prober = proberWith({ ports: { http: port } });
    const response = await prober.get(url('http://Site.example/a%20b?c=d#e'), '127.0.0.1', never);
    expect(response).toMatchObject({ status: 404, body: 'nothing hére', location: null });
    expect(response.headers['x-one']).toBe('a, b');
    expect(seen).toMatchObject({ method: 'GET', url: '/a%20b?c=d' });
    expect(seen?.headers).toMatchObject({ host: 'site.example', 'user-agent': 'Homeport domain check' });
  });

  test('speaks TLS for https, whatever the certificate', async () => {
    const site = await startTlsServer(pki.chains.expired);
    running.push(site);
    const prober = proberWith({ ports: { https: site.port } });
    const response = await prober.get(url('https://elsewhere.example/'), '127.0.0.1', never);
    expect(response.body).toBe('hello');
  });

  test('goes to the port that the URL names', async () => {
    const port = await serve((_request, response) => response.end('here'));
    const response = await proberWith({ ports: { https: port } }).get(
      url(`http://site.example:${port}/`),
      '127.0.0.1',
      never,
    );
    expect(response.body).toBe('here');
  });

  test('refuses ports other than web ports and the configured ones', async () => {
    const reached: string[] = [];
    const port = await serve((request, response) => {
      reached.push(request.url ?? '');
      response.end();
    });
    const failure = await problemOf(
      proberWith().get(url(`http://site.example:${port}/`), '127.0.0.1', never),
    );
    expect(failure.problem).toBe('bad_redirect');
    expect(failure.message).toContain(`port ${port}`);
    expect(reached).toEqual([]);
  });

  test('reports the target of a redirect without following it', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(301, { location: '/there' });
      response.write('a body that never ends');
    });
    const response = await get(port);
    expect(response).toMatchObject({ status: 301, body: '' });
    expect(response.location?.href).toBe('http://site.example/there');
  });

  test('reads an endless body up to the limit, then closes', async () => {
    const closed = Promise.withResolvers<void>();
    const port = await serve((_request, response) => {
      const pour = () => {
        while (response.write('x'.repeat(1000)) && !response.destroyed);
      };
      response.on('drain', pour).on('close', () => closed.resolve());
      pour();
    });
    const prober = proberWith({ ports: { http: port } });
    const response = await prober.get(url(), '127.0.0.1', never, { maxBytes: 2500 });
    expect(response.body).toBe('x'.repeat(2500));
    await closed.promise;
    expect((await get(port)).body).toHaveLength(65_536);
  });

  test('ends at the timeout of a slow or silent server, and when the caller aborts', async () => {
    const drips = await serve((_request, response) => {
      const timer = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(timer));
    });
    const silent = await serveRaw(() => {});
    expect((await problemOf(get(drips, { limitMs: 60 }))).problem).toBe('timeout');
    const failure = await problemOf(get(silent, { limitMs: 60 }));
    expect(failure.problem).toBe('timeout');
    expect(failure.message).toMatch(/^site\.example at 127\.0\.0\.1:\d+ did not answer in time/);
    const prober = proberWith({ ports: { http: drips } });
    const signal = AbortSignal.timeout(60);
    expect((await problemOf(prober.get(url(), '127.0.0.1', signal))).problem).toBe('timeout');
    expect((await problemOf(prober.get(url(), '127.0.0.1', AbortSignal.abort()))).problem).toBe('timeout');
  });

  test.each<[ProbeProblem, string, (socket: Socket) => void]>([
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

  test('fails as tls at a plain HTTP port, and as refused at a closed one', async () => {
    const port = await serve((_request, response) => response.end());
    const prober = proberWith({ ports: { https: port } });
    const noTls = await problemOf(prober.get(url('https://site.example/'), '127.0.0.1', never));
    expect(noTls.problem).toBe('tls');
    const site = await startPlainServer();
    await site.remove();
    expect((await problemOf(get(site.port))).problem).toBe('refused');
  });

  test.each(['127.0.0.2', '10.0.0.1', '::1', '::ffff:127.0.0.2', '169.254.169.254', 'site.example'])(
    'never goes to %s',
    async (address) => {
      const failure = await problemOf(proberWith().get(url(), address, never));
      expect(failure.problem).toBe('private_address');
      expect(failure.message).toContain(address);
    },
  );

  test('opens no other schemes, and no URL with a password', async () => {
    const prober = proberWith();
    for (const text of ['ftp://site.example/', 'file:///etc/passwd', 'http://user:secret@site.example/']) {
      const failure = await problemOf(prober.get(url(text), '127.0.0.1', never));
      expect(failure.problem).toBe('bad_redirect');
      expect(failure.message).not.toContain('secret');
    }
  });
});

describe('targets', () => {
  test('are all addresses of a name, each checked', async () => {
    const prober = proberWith({ names: { 'site.example': [['127.0.0.1', '10.0.0.1', '8.8.8.8']] } });
    expect(await prober.targets('site.example.', never)).toEqual([
      { address: '127.0.0.1', family: 4, allowed: true },
      { address: '10.0.0.1', family: 4, allowed: false },
      { address: '8.8.8.8', family: 4, allowed: true },
    ]);
  });

  test('include IP literals, which are checked too', async () => {
    const prober = proberWith();
    expect(await prober.targets('[::1]', never)).toEqual([{ address: '::1', family: 6, allowed: false }]);
    expect(await prober.targets('127.0.0.1', never)).toEqual([
      { address: '127.0.0.1', family: 4, allowed: true },
    ]);
  });
});
