import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { PASSING_HEADERS } from '../../policy/page-request-headers.ts';
import type { TestEdge } from './edge-table.fixture.ts';
import { BROWSER, GZIP, type PageCache, startPageCache } from './page-cache.fixture.ts';
import { siteState } from './test-installs.fixture.ts';
import type { Vhost } from './vhost.ts';

// Parts of a visitor's request that reach PHP and the inner servers of the page cache.

let edge: TestEdge;
let shop: Vhost;
let blog: Vhost;
let get: PageCache['get'];
let fresh: PageCache['fresh'];
beforeAll(async () => {
  ({ edge, shop, blog, get, fresh } = await startPageCache());
});
afterAll(() => edge.close());

describe('what PHP learns through the inner servers', () => {
  /** Sends a request with these header lines from an address; returns the whole response. */
  async function send(path: string, lines: string[], from = '127.0.0.1'): Promise<string> {
    const { port } = edge.options.edgeHttp;
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    socket.write(
      [`GET ${path} HTTP/1.1`, 'Host: shop.test:81', 'Connection: close', ...lines, '', ''].join('\r\n'),
    );
    return text(socket);
  }

  test('the visitor, the scheme and the name as they are', async () => {
    const { port } = edge.options.edgeHttp;
    const answer = await send(fresh('server'), [], '127.0.0.3');
    expect(answer).toContain('"REMOTE_ADDR":"127.0.0.3"');
    expect(answer).toContain('"HTTP_X_FORWARDED_FOR":"127.0.0.3"');
    expect((await get(fresh(), { headers: BROWSER }, 'shop.test:81')).php).toMatchObject({
      HTTP_HOST: 'shop.test:81',
      SERVER_NAME: 'shop.test',
      SERVER_PORT: `${port}`,
      SCRIPT_FILENAME: join(edge.layout.htdocsOf(shop.state.id), 'index.php'),
    });
    const secure = JSON.parse((await edge.https('shop.test', fresh())).text);
    expect(secure).toMatchObject({ HTTPS: 'on', SERVER_PORT: `${edge.options.edgeHttps.port}` });
    expect((await get(fresh())).php).not.toHaveProperty('HTTPS');
  });

  test.each([['gzip'], ['br']])('nothing that a visitor says about them (%s)', async (accepted) => {
    const names = ['Page', 'Install', 'Last', 'Php', 'Root', 'Script', 'Path-Info', 'Document-Uri', 'Host'];
    const more = ['Scheme', 'Https', 'Protocol', 'Address', 'Port', 'Server-Address', 'Server-Port'];
    const edgeHeaders = [...names, ...more].flatMap((name) => [
      `X-Edge-${name}`,
      `x_edge_${name.replaceAll('-', '_')}`,
    ]);
    const forwarded = [
      'Forwarded',
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'X-Forwarded-Proto',
      'X-Original-URL',
    ];
    const others = [
      'X-Rewrite-URL',
      'X-Host',
      'X-HTTP-Method-Override',
      'X-Real-IP',
      'CF-Connecting-IP',
      'Proxy',
    ];
    const path = fresh('server');
    const lines = [...edgeHeaders, ...forwarded, ...others].map((name) => `${name}: poison`);
    const accepting = `Accept-Encoding: ${accepted}`;
    expect(await send(path, [...lines, 'X-Php: poison', accepting])).toMatch(/X-Cache: MISS/);
    const next = await send(path, [], '127.0.0.2');
    expect(next).toMatch(/X-Cache: (HIT|MISS)/);
    expect(next.replace('"HTTP_X_PHP":"poison"', '')).not.toContain('poison');
    expect(next).not.toContain('HTTP_X_EDGE');
  });

  test.each([
    'Cookie: theme=poison',
    'User-Agent: poison (iPhone; Mobile)',
    'Accept: text/html;poison',
    'Accept-Language: poison',
    'Accept-Charset: poison',
    'Referer: http://poison/',
    'Range: bytes=0-poison',
    'If-None-Match: poison',
    'Prefer: poison',
    'Purpose: poison',
    'Save-Data: poison',
    'DNT: poison',
    'Sec-CH-UA-Mobile: poison',
    'X-Requested-With: com.poison',
    'X-HTTP-Method-Override: poison',
    'X-Forwarded-Host: poison',
    'X-Original-URL: /poison',
    'CF-IPCountry: poison',
    'X-GeoIP-Country: poison',
    'X-Anything: poison',
    'X-Edge-Php: poison\r\nConnection: X-Edge-Page, X-Edge-Php, Host, close',
    'X_Edge_Php: poison',
    ...PASSING_HEADERS.map((name) => `${name}: poison`),
  ])('no header of one visitor shapes the page of the next: %s', async (line) => {
    const path = fresh('server');
    await send(path, [line]);
    const next = await send(path, []);
    expect(next).toMatch(/^HTTP\/1.1 200 /);
    expect(next.toLowerCase()).not.toContain('poison');
    // Requests for something else reach PHP as they are.
    const passes = PASSING_HEADERS.some((name) => line.startsWith(`${name}:`));
    expect(next).toContain(`X-Cache: ${passes ? 'MISS' : 'HIT'}`);
  });

  describe('PHP that answers with a status of no answer', () => {
    beforeAll(async () => {
      const script = "<?php header('HTTP/1.1 ' . $_GET['status'] . ' X'); echo 'HTTP/1.1 200 Split';";
      await edge.write(shop.state, 'status.php', script);
      await edge.write(blog.state, 'secret.php', '<?php echo "se", "cret";');
    });

    /** Sends requests one after the other on one connection, each once something has come for the one before. */
    async function converse(requests: string[]): Promise<string> {
      const socket = connect({ port: edge.options.edgeHttp.port, host: '127.0.0.1' });
      let answers = '';
      socket.on('data', (part: Buffer) => {
        answers += part.toString('latin1');
        const next = requests.shift();
        if (next === undefined) socket.end();
        else socket.write(next);
      });
      socket.write(requests.shift() ?? '');
      await once(socket, 'close');
      return answers;
    }

    test.each([
      ['gzip', ''],
      ['br', ''],
      ['', 'Cookie: nocache=1'],
    ])('lets no visitor speak to an inner server (%s %s)', async (accepted, line) => {
      const lines = [`Accept-Encoding: ${accepted}`, 'Upgrade: x', 'Connection: upgrade', line].filter(
        Boolean,
      );
      const path = `/status.php?status=101&${crypto.randomUUID()}`;
      const inner = {
        Host: 'shop.test',
        'X-Edge-Page': 'x',
        'X-Edge-Install': shop.state.id,
        'X-Edge-Php': `unix:${edge.layout.phpSocketOf(blog.state.id)}`,
        'X-Edge-Root': edge.layout.htdocsOf(blog.state.id),
        'X-Edge-Script': '/secret.php',
        Connection: 'close',
      };
      const answers = await converse([
        [`GET ${path} HTTP/1.1`, 'Host: shop.test', ...lines, '', ''].join('\r\n'),
        [
          'GET /secret.php HTTP/1.1',
          ...Object.entries(inner).map(([name, value]) => `${name}: ${value}`),
          '',
          '',
        ].join('\r\n'),
      ]);
      expect(answers).toMatch(/^HTTP\/1.1 502 /);
      expect(answers).not.toContain('secret');
    });

    test.each([100, 103, 199, 600, 1000])('cannot begin another answer: %d', async (status) => {
      for (const headers of [GZIP, BROWSER, { Cookie: 'nocache=1' }]) {
        const path = `/status.php?status=${status}&${crypto.randomUUID()}`;
        expect((await edge.http('shop.test', path, { headers })).status).toBe(502);
      }
    });
  });

  test('strangers do not reach the inner servers', async () => {
    for (const socket of [edge.options.run.innerSocket, edge.options.run.primarySocket]) {
      const curl = ['/usr/bin/curl', '--silent', '--max-time', '5', '--unix-socket', socket, 'http://x/'];
      const asStranger = ['--reuid=259999', '--regid=259999', '--clear-groups', ...curl];
      await expect(runCommand('/usr/bin/setpriv', asStranger)).rejects.toMatchObject({ status: 7 });
    }
  });
});

test('requests that arrive together at a PHP without processes run side by side', async () => {
  const cold = await edge.makeInstall(siteState('cold', ['cold.test']), { php: 'ondemand' });
  await edge.serve(cold);
  // Each request waits for the other two.
  const meeting = `<?php
touch(__DIR__ . '/' . basename($_GET['name']) . '.here');
for ($n = 0; $n < 20000 && count(glob(__DIR__ . '/*.here')) < 3; $n++) usleep(1000);
echo count(glob(__DIR__ . '/*.here'));`;
  await edge.write(cold.state, 'meet.php', meeting);
  const meet = (name: string) =>
    edge.http('cold.test', `/meet.php?name=${name}`, { method: 'POST', body: 'x' });
  const answers = await Promise.all(['a', 'b', 'c'].map(meet));
  expect(answers.map(({ text }) => text)).toEqual(['3', '3', '3']);
});
