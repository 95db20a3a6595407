import { once } from 'node:events';
import { readdir, readlink, stat } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { eventually } from '../../policy/edge.fixture.ts';
import type { TestEdge } from './edge-table.fixture.ts';
import { GZIP, startPageCache } from './page-cache.fixture.ts';
import type { Vhost } from './vhost.ts';
import { workersOf } from './worker-processes.ts';

// Pages that are long, or do not end.

let edge: TestEdge;
let shop: Vhost;
beforeAll(async () => {
  ({ edge, shop } = await startPageCache());
});
afterAll(() => edge.close());

describe('what is large', () => {
  const MEGABYTE = 1_000_000;
  beforeAll(async () => {
    await edge.write(
      shop.state,
      'large.php',
      `<?php
$megabytes = (int) $_GET['megabytes'];
header('Content-Type: ' . $_GET['type']);
if (isset($_GET['told'])) header('Content-Length: ' . $megabytes * ${MEGABYTE});
for ($part = 0; $part < $megabytes; $part++) {
  echo str_repeat('x', ${MEGABYTE});
  flush();
}
`,
    );
  });

  test.each([
    ['type=text/html&megabytes=3', 'HIT'],
    ['type=text/html&megabytes=3&told', 'HIT'],
    ['type=application/zip&megabytes=3&told', 'HIT'],
    ['type=text/html&megabytes=12&told', 'BYPASS'],
    ['type=application/zip&megabytes=3', 'BYPASS'],
    ['type=text/event-stream&megabytes=3', 'BYPASS'],
  ])('%s: %s', async (query, cache) => {
    const path = `/large.php?${query}&page=${crypto.randomUUID()}`;
    for (const headers of [{}, GZIP]) {
      const { text: content } = await edge.http('shop.test', path, { headers });
      expect(content).toHaveLength(Number(/megabytes=(\d+)/.exec(query)?.[1]) * MEGABYTE);
    }
    expect((await edge.http('shop.test', path, { method: 'HEAD' })).headers['x-cache']).toBe(cache);
  });

  /** Bytes of the cache, with what is being written. */
  async function kept(): Promise<number> {
    const sizes = ['-ignore_readdir_race', '-type', 'f', '-printf', '%s '];
    const { stdout } = await runCommand('/usr/bin/find', [join(edge.layout.caches, 'pages'), ...sizes]);
    return stdout.split(' ').reduce((sum, size) => sum + Number(size), 0);
  }

  test('headers that nginx accepts from PHP pass the inner servers', async () => {
    await edge.write(
      shop.state,
      'headers.php',
      `<?php for ($i = 100; $i < 200; $i++) header("X-$i: " . str_repeat('x', 317)); echo 'page';`,
    );
    const visit = { host: '127.0.0.1', port: edge.options.edgeHttp.port, path: '/headers.php' };
    for (const cache of ['MISS', 'HIT']) {
      const asked = request({ ...visit, headers: { Host: 'shop.test' }, maxHeaderSize: 65_536 }).end();
      const [answer]: IncomingMessage[] = await once(asked, 'response');
      expect(answer).toMatchObject({ statusCode: 200, headers: { 'x-cache': cache } });
      answer?.resume();
    }
  });

  // The plain one last: what it wrote counts for the address's share of the disk.
  test.each([
    ['compressed', GZIP],
    ['plain', {}],
  ])('a page that does not end is broken off, and nothing of it stays: %s', async (encoding, headers) => {
    const before = await kept();
    const path = `/large.php?type=text/html&megabytes=300&${encoding}`;
    const visitor = request({
      port: edge.options.edgeHttp.port,
      path,
      headers: { Host: 'shop.test', ...headers },
    }).end();
    const [page]: IncomingMessage[] = await once(visitor, 'response');
    if (!page) throw new Error('no response');
    page.resume();
    await expect(finished(page)).rejects.toThrow('aborted');
    await eventually(async () => (await kept()) < before + MEGABYTE);
  });

  test('an answer that is not kept waits for a slow visitor with PHP, and not on the disk', async () => {
    const visitor = connect({ host: '127.0.0.1', port: edge.options.edgeHttp.port });
    visitor.write(
      'GET /large.php?type=text/html&megabytes=100 HTTP/1.0\r\nHost: shop.test\r\nAuthorization: x\r\n\r\n',
    );
    await once(visitor, 'readable');
    await sleep(1_000);
    const written = await openBytesIn(join(edge.layout.nginx, 'temporary'));
    visitor.destroy();
    expect(written).toBeLessThan(20 * MEGABYTE);
  });

  /** Bytes of the files that nginx has open in a folder; it has removed their names. */
  async function openBytesIn(folder: string): Promise<number> {
    const [nginx] = (await edge.daemons.list()).filter(({ name }) => name === 'nginx');
    const { serving } = await workersOf(nginx?.pid ?? 0);
    let bytes = 0;
    for (const pid of serving) {
      for (const fd of await readdir(`/proc/${pid}/fd`)) {
        const file = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
        if (file.startsWith(folder)) bytes += (await stat(`/proc/${pid}/fd/${fd}`)).size;
      }
    }
    return bytes;
  }
});
