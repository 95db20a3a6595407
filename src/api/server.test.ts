import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limiterFor } from '../../test/connections.ts';
import { ENDPOINTS, nameOf } from '../../test/contract/endpoint-table.ts';
import { absentResources, pathTo } from '../../test/contract/resource-set.ts';
import { silent } from '../../test/database.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { createPortalClient } from '../../test/portal-client.ts';
import { exchange, rawConnection, statusesIn } from '../../test/raw-connection.ts';
import { onlyInLong } from '../../test/rounds.ts';
import { openDatabase } from '../database/open.ts';
import { createSelfSigned } from '../lib/certificates/self-signed-certificate.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import { ClientLeft } from '../lib/failures.ts';
import { systemRandomness } from '../lib/ids.ts';
import { publicRoute } from './route.ts';
import { Type } from './schema.ts';
import { createServer } from './server.ts';

const roles = { api: true, hosting: false };
const python = spawnSync('python3', ['--version']).status === 0;

function basic({ credential }: Person): string {
  return `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`;
}

const portOf = (homeport: TestHomeport) => homeport.api?.port ?? 0;
const plainTo = (homeport: TestHomeport) => ({ port: portOf(homeport) });
const secureTo = (homeport: TestHomeport) => ({ port: portOf(homeport), ca: homeport.ca });

/** A request without a body, as bytes. */
function bytesOf(method: string, target: string, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ host: 'localhost', connection: 'close', ...headers });
  return `${method} ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

describe('without a proxy', () => {
  let homeport: TestHomeport;
  let owner: Person;
  let accountId: string;
  beforeAll(async () => {
    homeport = await startTestHomeport({
      roles,
      environment: { HOMEPORT_RATE_LIMIT: '100000', HOMEPORT_ANONYMOUS_RATE_LIMIT: '100000' },
    });
    ({ owner, accountId } = await homeport.ownedAccount());
  });
  afterAll(() => homeport.remove());

  function expectHttpsRequired(answer: string) {
    expect(statusesIn(answer)).toEqual([403]);
    expect(answer).toMatch(/\{"message":"HTTPS is required"\}$/);
    expect(answer).toMatch(/^connection: close$/im);
    expect(answer).toMatch(/^x-request-id: [0-9a-f-]{36}$/im);
    expect(answer).not.toMatch(/^(location|www-authenticate):/im);
  }

  it('prevents browsers from guessing the type of an answer', async () => {
    for (const target of [
      '/v1/status',
      '/portal/api/session',
      '/portal/api/nothing',
      '/nothing',
      '/docs',
      '/',
    ]) {
      const answer = await exchange(secureTo(homeport), bytesOf('GET', target));
      expect(answer, target).toMatch(/^x-content-type-options: nosniff$/im);
    }
  });

  it('sends no HSTS header, because an untrusted certificate would lock users out', async () => {
    expect(await exchange(secureTo(homeport), bytesOf('GET', '/'))).not.toMatch(/strict-transport/i);
  });

  describe('plain HTTP', () => {
    it.each(ENDPOINTS.map((row) => [nameOf(row), row] as const))('is refused for %s', async (_, row) => {
      const target = `/v1${pathTo(row, absentResources())}`;
      const given: Record<string, string>[] = [{}, { authorization: basic(owner) }];
      for (const headers of given) {
        expectHttpsRequired(await exchange(plainTo(homeport), bytesOf(row.method, target, headers)));
      }
    });

    it.each([
      '/v1',
      '/v1/nothing',
      '/v1/%zz',
      '/',
      '/docs',
      '/docs/static/index.html',
      '/invitations/token',
      '*',
    ])('is refused for %s', async (target) => {
      expectHttpsRequired(await exchange(plainTo(homeport), bytesOf('GET', target)));
    });

    it('is refused with a body, even if the body never arrives', async () => {
      const headers = { 'content-type': 'application/json', 'content-length': '1000' };
      expectHttpsRequired(await exchange(plainTo(homeport), bytesOf('POST', '/v1/sites', headers)));
    });

    it.each<Record<string, string>>([
      { 'x-forwarded-proto': 'https' },
      { 'x-forwarded-proto': 'https', 'x-forwarded-for': '127.0.0.1' },
      { 'x-forwarded-ssl': 'on' },
      { forwarded: 'proto=https' },
      { 'front-end-https': 'on' },
    ])('is refused despite headers of the client: %j', async (headers) => {
      expectHttpsRequired(await exchange(plainTo(homeport), bytesOf('GET', '/v1/status', headers)));
    });
  });

  it('ignores forged client addresses', async () => {
    const remaining = async (address: string) => {
      const { headers } = await homeport.anonymous.get('/status', {
        headers: { 'x-forwarded-for': address },
      });
      return Number(headers['ratelimit-remaining']);
    };
    expect(await remaining('192.0.2.1')).toBe((await remaining('192.0.2.2')) + 1);
  });

  it('accepts targets in absolute form, and builds links from the public URL', async () => {
    for (let made = 0; made < 2; made++)
      await owner.client.post('/sites', { name: 'x', account_id: accountId });
    const answer = await exchange(
      secureTo(homeport),
      bytesOf('GET', 'https://elsewhere.example/v1//sites/?limit=1', {
        host: 'elsewhere.example',
        'x-forwarded-host': 'elsewhere.example',
        authorization: basic(owner),
      }),
    );
    expect(statusesIn(answer)).toEqual([200]);
    expect(answer).toContain(`"next":"${homeport.origin}/v1/sites?limit=1&offset=1"`);
    expect(answer).not.toContain('elsewhere.example');
  });

  it('answers a body of 200 MB with 400 after reading part of it', async () => {
    const agent = new Agent({ connect: { ca: homeport.ca, servername: 'localhost' } });
    let sent = 0;
    async function* flood() {
      for (; sent < 200; sent++) yield Buffer.alloc(1024 * 1024, 0x20);
    }
    const response = await request(`${homeport.origin}/v1/sites`, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: basic(owner), 'content-type': 'application/json' },
      body: Readable.from(flood()),
    });
    expect(response.statusCode).toBe(400);
    expect(await response.body.json()).toMatchObject({ errors: [{ code: 'too_large' }] });
    // The connection's buffers hold some of it.
    expect(sent).toBeLessThan(150);
    await agent.destroy();
  });

  onlyInLong(it.runIf(python))(
    'answers Python, which reads only once it has sent all of 50 MB, with 400',
    async () => {
      const script = `
import http.client, ssl, sys
port, authorization, ca = sys.argv[1:]
for _ in range(4):
    connection = http.client.HTTPSConnection('localhost', int(port), context=ssl.create_default_context(cadata=ca))
    headers = {'Authorization': authorization, 'Content-Type': 'application/json'}
    connection.request('POST', '/v1/sites', b' ' * 50_000_000, headers)
    answer = connection.getresponse()
    print(answer.status, 'too_large' in answer.read().decode())
`;
      const words = ['-c', script, String(portOf(homeport)), basic(owner), homeport.ca];
      const { stdout } = await promisify(execFile)('python3', words);
      expect(stdout.trim().split('\n')).toEqual(Array.from({ length: 4 }, () => '400 True'));
    },
  );

  it.each(['/session', '/password_resets'])(
    'limits the body of %s, which requires no session',
    async (path) => {
      const stranger = createPortalClient(homeport);
      const body = { email: 'x@example.test', password: 'x', more: 'x'.repeat(17_000) };
      const answer = await stranger.call('POST', path, { json: body });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ errors: [{ message: 'The body must be at most 16 KiB' }] });
    },
  );

  it('continues when clients disconnect in the middle of a request', async () => {
    for (const bytes of [
      'POST /v1/sites HT',
      bytesOf('POST', '/v1/sites', { authorization: basic(owner), 'content-length': '10' }),
      `${bytesOf('POST', '/v1/sites', { authorization: basic(owner), 'content-length': '10' })}{"name`,
      bytesOf('GET', '/v1/sites', { authorization: basic(owner) }),
    ]) {
      const connection = rawConnection(secureTo(homeport));
      await once(connection.socket, 'secureConnect');
      connection.socket.write(bytes);
      await sleep(20);
      connection.socket.destroy();
    }
    expect((await owner.client.get('/user')).status).toBe(200);
  });

  describe('request smuggling', () => {
    const SMUGGLED = bytesOf('DELETE', '/v1/smuggled');
    const post = (headers: string, body: string) =>
      `POST /v1/sites HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`;

    it.each([
      [
        'Content-Length and Transfer-Encoding',
        post('Content-Length: 6\r\nTransfer-Encoding: chunked', `0\r\n\r\n${SMUGGLED}`),
      ],
      [
        'Transfer-Encoding and Content-Length',
        post('Transfer-Encoding: chunked\r\nContent-Length: 4', `0\r\n\r\n${SMUGGLED}`),
      ],
      ['two lengths', post('Content-Length: 0\r\nContent-Length: 30', SMUGGLED)],
      ['a list of lengths', post('Content-Length: 0, 30', SMUGGLED)],
      ['a negative length', post('Content-Length: -1', SMUGGLED)],
      ['a length with a sign', post('Content-Length: +0', SMUGGLED)],
      ['a hexadecimal length', post('Content-Length: 0x0', SMUGGLED)],
      ['an endless length', post(`Content-Length: ${'9'.repeat(40)}`, SMUGGLED)],
      ['an unknown coding', post('Transfer-Encoding: xchunked', `0\r\n\r\n${SMUGGLED}`)],
      ['chunked not last', post('Transfer-Encoding: chunked, identity', `0\r\n\r\n${SMUGGLED}`)],
      ['a space before the colon', post('Transfer-Encoding : chunked', `0\r\n\r\n${SMUGGLED}`)],
      ['a folded header', post('X-Folded: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 0', SMUGGLED)],
      ['a bare CR in a header', post('X-Bare: a\rTransfer-Encoding: chunked', SMUGGLED)],
      ['a NUL in a header', post('X-Nul: a\0b', SMUGGLED)],
      ['an invalid chunk size', post('Transfer-Encoding: chunked', `zz\r\n${SMUGGLED}`)],
      ['an endless chunk size', post('Transfer-Encoding: chunked', `${'f'.repeat(40)}\r\n${SMUGGLED}`)],
      ['chunk data that runs over', post('Transfer-Encoding: chunked', `1\r\nab\r\n0\r\n\r\n${SMUGGLED}`)],
      ['a newer version', `GET /v1/status HTTP/3.0\r\nHost: localhost\r\n\r\n${SMUGGLED}`],
      ['no version', `GET /v1/status\r\n\r\n${SMUGGLED}`],
      ['a target with a space', `GET /v1/sta tus HTTP/1.1\r\nHost: localhost\r\n\r\n${SMUGGLED}`],
    ])('with %s is refused, and the rest is not read', async (_, bytes) => {
      const answer = await exchange(secureTo(homeport), bytes);
      // Unauthenticated requests get an answer before the server reads the body.
      expect([[], [400], [401], [401, 400], [200, 400]]).toContainEqual(statusesIn(answer));
    });

    it('does not answer garbage after a pending request, because it could look like that request’s answer', async () => {
      const held = await owner.client.get('/user');
      expect(held.status).toBe(200);
      const asking = bytesOf('GET', '/v1/user', { authorization: basic(owner), connection: 'keep-alive' });
      const answer = await exchange(secureTo(homeport), `${asking}\0garbage\r\n\r\n`);
      expect([[], [200], [200, 400]]).toContainEqual(statusesIn(answer));
    });
  });

  describe('the Host of a request', () => {
    const get = (headers: string, version = '1.1') => `GET /v1/status HTTP/${version}\r\n${headers}\r\n`;

    it.each([
      ['none', get('')],
      ['none, with an expectation', get('Expect: miracles\r\n')],
      ['none, with a body', `POST /v1/sites HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"a":"b"}`],
      ['two', get('Host: localhost\r\nhost: example.test\r\n')],
      ['two in HTTP/1.0', get('Host: localhost\r\nHost: localhost\r\n', '1.0')],
    ])('%s: the usual 400, and the connection closes', async (_, bytes) => {
      for (const target of [secureTo(homeport), plainTo(homeport)]) {
        const answer = await exchange(target, bytes + bytesOf('GET', '/v1/status'));
        expect(statusesIn(answer)).toEqual([400]);
        expect(answer).toMatch(/^Connection: close$/im);
        expect(answer).toMatch(/^Content-Type: application\/json; charset=utf-8$/im);
        expect(answer.split('\r\n\r\n')[1]).toBe('{"message":"Bad request - invalid parameters"}');
      }
    });

    it('is refused only after the earlier answers on the connection', async () => {
      const asking = bytesOf('GET', '/v1/status', { connection: 'keep-alive' });
      expect(statusesIn(await exchange(secureTo(homeport), asking + get('')))).toEqual([200, 400]);
    });

    it('may be missing in HTTP/1.0', async () => {
      expect(statusesIn(await exchange(secureTo(homeport), get('', '1.0')))).toEqual([200]);
      expectHttpsRequired(await exchange(plainTo(homeport), get('', '1.0')));
    });
  });

  it('answers headers that are too large with 400', async () => {
    const answer = await exchange(
      secureTo(homeport),
      bytesOf('GET', '/v1/status', { 'x-large': 'x'.repeat(100_000) }),
    );
    expect(statusesIn(answer)).toEqual([400]);
    expect(answer).toContain('{"message":"Bad request - invalid parameters"}');
  });

  it('ignores unknown expectations', async () => {
    const bytes = bytesOf('GET', '/v1/status', { expect: 'miracles' });
    expect(statusesIn(await exchange(secureTo(homeport), bytes))).toEqual([200]);
    expect(statusesIn(await exchange(plainTo(homeport), bytes))).toEqual([403]);
  });

  it('answers Expect: 100-continue', async () => {
    const body = JSON.stringify({ name: 'x', account_id: accountId });
    const connection = rawConnection(secureTo(homeport));
    connection.socket.write(
      bytesOf('POST', '/v1/sites', {
        authorization: basic(owner),
        'content-type': 'application/json',
        'content-length': String(body.length),
        expect: '100-continue',
      }),
    );
    while (!connection.received().includes('100 Continue')) await once(connection.socket, 'data');
    connection.socket.write(body);
    expect(statusesIn(await connection.end())).toEqual([100, 201]);
  });
});

describe('behind a proxy that ends TLS', () => {
  let homeport: TestHomeport;
  beforeAll(async () => {
    homeport = await startTestHomeport({
      roles,
      environment: {
        HOMEPORT_TRUST_PROXY: '127.0.0.1, 10.0.0.0/8',
        HOMEPORT_RATE_LIMIT: '100000',
        HOMEPORT_ANONYMOUS_RATE_LIMIT: '100000',
      },
    });
  });
  afterAll(() => homeport.remove());

  const ask = (headers: Record<string, string>, target = plainTo(homeport)) =>
    exchange(target, bytesOf('GET', '/v1/status', headers));

  it.each([
    ['https', 200],
    ['HTTPS', 200],
    ['http, https', 200],
    ['http', 403],
    ['https, http', 403],
    ['', 403],
    ['httpsx', 403],
  ])('X-Forwarded-Proto: %s → %i', async (proto, status) => {
    expect(statusesIn(await ask({ 'x-forwarded-proto': proto }))).toEqual([status]);
  });

  it('refuses plain HTTP without X-Forwarded-Proto', async () => {
    expect(statusesIn(await ask({}))).toEqual([403]);
  });

  it('accepts TLS, unless the proxy reports that its client used plain HTTP', async () => {
    expect(statusesIn(await ask({}, secureTo(homeport)))).toEqual([200]);
    expect(statusesIn(await ask({ 'x-forwarded-proto': 'https' }, secureTo(homeport)))).toEqual([200]);
    expect(statusesIn(await ask({ 'x-forwarded-proto': 'http' }, secureTo(homeport)))).toEqual([403]);
  });

  it('counts clients by the last address that is not a trusted proxy’s', async () => {
    const remaining = async (addresses: string) => {
      const answer = await ask({ 'x-forwarded-proto': 'https', 'x-forwarded-for': addresses });
      return 100_000 - Number(/^ratelimit-remaining: (\d+)$/im.exec(answer)?.[1]);
    };
    expect(await remaining('192.0.2.1')).toBe(1);
    expect(await remaining('192.0.2.1')).toBe(2);
    expect(await remaining('192.0.2.2')).toBe(1);
    expect(await remaining('192.0.2.1, 10.1.2.3')).toBe(3);
    expect(await remaining('192.0.2.9, 192.0.2.1'), 'what the client sent itself').toBe(4);
    expect(await remaining(`${'x'.repeat(5_000)}, 192.0.2.1`)).toBe(5);
  });
});

describe('the HSTS header', () => {
  let homeport: TestHomeport;
  beforeAll(async () => {
    const environment = { HOMEPORT_HSTS_SECONDS: '31536000', HOMEPORT_TRUST_PROXY: '127.0.0.1' };
    homeport = await startTestHomeport({ roles, environment });
  });
  afterAll(() => homeport.remove());

  const paths = ['/', '/v1/status', '/v1/user', '/v1/nothing', '/portal/api/session', '/nothing'];

  it.each(paths)('is in every answer over HTTPS: %s', async (path) => {
    const ask = (proto: string | null) =>
      proto === null
        ? exchange(secureTo(homeport), bytesOf('GET', path))
        : exchange(plainTo(homeport), bytesOf('GET', path, { 'x-forwarded-proto': proto }));
    const said = /^strict-transport-security: max-age=31536000\r?$/im;
    expect(await ask(null)).toMatch(said);
    expect(await ask('https')).toMatch(said);
    expect(await ask('http')).not.toMatch(/strict-transport/i);
  });
});

describe('an unexpected failure', () => {
  it('is answered without its cause, which is in the log under the same request id', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({ level: 'debug' }, { write: (line) => lines.push(JSON.parse(line)) });
    const failing = (
      path: string,
      errors: [500, 503] | [503],
      error: Error = new Error('the secret cause'),
    ) =>
      publicRoute({
        method: 'GET',
        path,
        operationId: path,
        summary: path,
        tag: 'Test',
        errors,
        success: 200,
        response: Type.Object({ ok: Type.Boolean() }),
        handle: () => Promise.reject(error),
      });
    const { chain, key } = await createSelfSigned({ names: ['localhost'], notBefore: new Date(), days: 1 });
    const { app, listener } = await createServer({
      config: { publicUrl: 'https://localhost', trustProxy: [], hstsSeconds: 0 },
      routes: [
        failing('/five-hundred', [500, 503]),
        failing('/five-hundred-three', [503]),
        failing('/left', [503], new ClientLeft()),
      ],
      portalRoutes: [],
      gate: {
        enter: async () => {},
        reauthenticate: () => Promise.reject(new Error('no answer is held')),
        enterPortal: async () => {},
        anonymous: async () => {},
      },
      certificate: { cert: chain, key },
      connections: limiterFor('api'),
      random: systemRandomness,
      log,
      pages: [],
    });
    const { port } = await listener.listen({ host: '127.0.0.1', port: 0 });
    for (const [path, status, message] of [
      ['/five-hundred', 500, 'Internal server error - please try again later'],
      ['/five-hundred-three', 503, 'Service temporarily unavailable'],
    ] as const) {
      const answer = await exchange({ port, ca: chain }, bytesOf('GET', `/v1${path}?token=hidden`));
      expect(statusesIn(answer)).toEqual([status]);
      expect(answer.endsWith(JSON.stringify({ message }))).toBe(true);
      const id = /^x-request-id: (.*)$/im.exec(answer)?.[1];
      expect(lines.find((line) => line.request_id === id && line.level === 50)).toMatchObject({
        err: { message: 'the secret cause', stack: expect.stringContaining('server.test.ts') },
      });
      expect(lines.find((line) => line.request_id === id && line.level === 30)).toMatchObject({
        method: 'GET',
        route: `/v1${path}`,
        status,
        address: '127.0.0.1',
      });
    }
    // No one reads that answer, and nothing has failed.
    const left = await exchange({ port, ca: chain }, bytesOf('GET', '/v1/left'));
    expect(statusesIn(left)).toEqual([503]);
    const leftId = /^x-request-id: (.*)$/im.exec(left)?.[1];
    expect(lines.filter((line) => line.request_id === leftId).map(({ level }) => level)).toEqual([30]);
    expect(JSON.stringify(lines)).not.toContain('hidden');
    await app.close();
    await listener.close(1_000);
  });
});

describe('stopping', () => {
  it('loses no request of busy clients, and does not wait for them to stop', async () => {
    const homeport = await startTestHomeport({ roles });
    const { owner, accountId } = await homeport.ownedAccount();
    let stopped = false;
    const outcomes: unknown[] = [];
    const busy = Array.from({ length: 8 }, async () => {
      while (!stopped) {
        const answer = await owner.client
          .post('/sites', { name: 'busy', account_id: accountId })
          .catch((error) => error);
        if (answer instanceof Error) return outcomes.push(Reflect.get(answer, 'code'));
        outcomes.push(answer.status);
      }
      return outcomes.length;
    });
    await expect.poll(() => outcomes.length).toBeGreaterThan(8);
    // Longer than the test's timeout.
    await homeport.stop(10 * MINUTE_MS);
    stopped = true;
    await Promise.all(busy);
    const refused = outcomes.filter((outcome) => outcome !== 201);
    expect(outcomes.length).toBeGreaterThan(refused.length);
    // The kernel resets connections that the server had not accepted. The server has run none of their requests.
    for (const code of refused) expect(['ECONNREFUSED', 'ECONNRESET']).toContain(code);
    const database = openDatabase(homeport.place.settings, silent);
    const sites = await database.reader.selectFrom('sites').select('id').execute();
    await database.close();
    expect(sites).toHaveLength(outcomes.length - refused.length);
    await homeport.remove();
  });
});
