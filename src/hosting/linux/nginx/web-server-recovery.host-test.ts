import { once } from 'node:events';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../lib/durations.ts';
import { certificateFor, eventually } from '../../policy/edge.fixture.ts';
import type { DaemonSpec } from '../machine/daemon.ts';
import { tablePaths } from './edge-options.ts';
import { runFiles } from './machine-options.ts';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';
import { NGINX } from './test-configuration.ts';
import { visitsOf } from './web-server.fixture.ts';
import { createWebServer } from './web-server.ts';

// What the web server restores: after time, other processes, faults and changes by hand.

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

const { website, who, faultsOf, workers, visited } = visitsOf(() => server);

test('an nginx of an earlier version serves until it is replaced, and its files are removed', async () => {
  const { nginx, caches } = server.layout;
  const cache = join(caches, '00000000-0000-4000-8000-000000000001');
  const leftovers = [join(nginx, 'vhosts'), join(nginx, 'certificates'), cache];
  for (const path of leftovers) {
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'file'), 'text');
  }
  await server.daemons.ensure(await earlierNginx());
  const one = await website(siteState('one', ['one.test']));
  let stop = false;
  const answers: unknown[] = [];
  const visitor = (async () => {
    // nginx refuses connections between its two processes.
    while (!stop) answers.push(await who('one.test').catch(() => 'no connection'));
  })();
  await server.web.start([one]);
  await eventually(() => answers.at(-1) === 'one');
  stop = true;
  await visitor;
  const order = answers.filter((answer, index) => answer !== answers[index - 1]);
  expect(order.filter((answer) => answer !== 'no connection')).toEqual(['earlier', 'one']);
  for (const path of leftovers) await expect(stat(path)).rejects.toThrow('ENOENT');
});

/** An nginx under the same name, which knows nothing of rows. */
async function earlierNginx(): Promise<DaemonSpec> {
  const { folder, runFolder } = server.layout;
  const { host, port } = server.options.edgeHttp;
  const file = join(folder, 'earlier.conf');
  await writeFile(
    file,
    `pid ${join(runFolder, 'earlier.pid')};
error_log stderr;
events {}
http {
    access_log off;
    server { listen ${host}:${port}; location / { return 200 earlier; } }
}
`,
  );
  return {
    name: 'nginx',
    description: 'web server',
    command: [NGINX, '-c', file, '-g', 'daemon off;'],
    stopSignal: 'SIGQUIT',
    ready: async () => void (await who('one.test')),
  };
}

describe('as time goes by', () => {
  beforeEach(async () => {
    await server.close();
    server = await startServer({ lookEveryMs: 50 });
  });

  test('forcing HTTPS ends with the certificate', async () => {
    await server.web.start([]);
    const now = new Date(Date.now() - DAY_MS + 5_000);
    const certificate = await certificateFor('secure.test', { now, days: 1 });
    const one = await website(siteState('one', [{ name: 'secure.test', forceHttps: true, certificate }]));
    await server.web.put(one);
    expect(await who('secure.test')).toBe(301);
    await eventually(async () => (await who('secure.test')) === 'one');
    expect(await faultsOf([one])).toEqual([]);
  });

  test('the own certificate is made anew before it ends, and shown', async () => {
    await server.web.start([]);
    const before = await shown();
    server.clock.advance(380 * DAY_MS);
    await eventually(async () => (await shown()) !== before);
    expect(await faultsOf([])).toEqual([]);
  });

  test('purges of pages: long lists too, and one that did not reach nginx empties the cache later', async () => {
    const one = await server.makeInstall(siteState('one', ['one.test']));
    await server.web.start([one]);
    const cacheOf = async (path: string) => (await server.http('one.test', path)).headers['x-cache'];
    const both = async () => [await cacheOf('/a/'), await cacheOf('/b/')];
    await both();
    expect(await both()).toEqual(['HIT', 'HIT']);
    const others = Array.from({ length: 900 }, (_, n) => `/${n}/${'x'.repeat(200)}`);
    await server.web.purgePages(one.state.id, [...others, '/a']);
    expect(await both()).toEqual(['MISS', 'HIT']);
    const { controlFolder } = runFiles(server.layout);
    await rename(controlFolder, `${controlFolder}-away`);
    await expect(server.web.purgePages(one.state.id, ['/a'])).rejects.toThrow('ENOENT');
    expect(await both()).toEqual(['HIT', 'HIT']);
    await rename(`${controlFolder}-away`, controlFolder);
    await eventually(async () => (await cacheOf('/a/')) === 'MISS');
    expect(await cacheOf('/b/')).toBe('MISS');
  });

  test('proofs end', async () => {
    await server.web.start([]);
    const path = '/.well-known/acme-challenge/t';
    await server.web.publish({ hostname: 'x.test', path, text: 'proof' });
    expect((await server.http('x.test', path)).text).toBe('proof');
    server.clock.advance(DAY_MS);
    await eventually(async () => (await server.http('x.test', path)).status === 404);
  });
});

/** The fingerprint of the certificate for names without one. */
async function shown(): Promise<string> {
  const { port, host } = server.options.edgeHttps;
  const socket = tlsConnect({ host, port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

test('another host process takes over the running nginx, and visitors notice nothing', async () => {
  const certificate = await certificateFor('one.test');
  const state = siteState('one', [{ name: 'one.test', certificate }]);
  const one = await server.makeInstall(state);
  await server.write(state, 'who.txt', 'one');
  await server.web.start([one]);
  const pids = await workers();
  const page = async () => {
    const { headers, text: content } = await server.https('one.test', '/cached/');
    return [headers['x-cache'], content];
  };
  const [, made] = await page();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const seen = new Set<string>();
  let stop = false;
  const visitor = (async () => {
    while (!stop) seen.add(await visited(agent, 'one.test'));
  })();
  await server.web.stop();
  expect(await page()).toEqual(['HIT', made]);
  const again = createWebServer(server.options);
  await again.start([one]);
  expect(await page()).toEqual(['HIT', made]);
  stop = true;
  await visitor;
  agent.destroy();
  expect([[...seen], await workers()]).toEqual([['200 one'], pids]);
  const two = await website(siteState('two', ['two.test']));
  await again.start([two]);
  expect([await who('one.test'), await who('two.test')]).toEqual([404, 'two']);
  await again.stop();
});

test('an nginx that was killed comes up again', async () => {
  const one = await website(siteState('one', ['one.test']));
  await server.web.start([one]);
  await server.daemons.signal('nginx', 'SIGKILL');
  await eventually(async () => (await who('one.test').catch(() => null)) === 'one');
  await eventually(async () => (await faultsOf([one])).length === 0);
});

test('what was changed by hand is found, and mended', async () => {
  const one = await website(siteState('one', ['one.test']));
  await server.web.start([one]);
  const { installs, names } = tablePaths(server.layout);
  const file = join(installs, `${one.state.id}.json`);
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll('one.test', 'changed.test'));
  expect(await faultsOf([one])).toContain('the website one: its configuration on disk was changed');
  await server.daemons.signal('nginx', 'SIGHUP');
  await eventually(async () => (await who('one.test')) === 404);
  await server.web.put(one);
  expect(await who('one.test')).toBe('one');
  expect(await faultsOf([one])).toEqual([]);
  await rm(join(names, 'one.test'));
  expect(await faultsOf([one])).toContain('the website one: its configuration on disk was changed');

  const current = join(server.layout.nginx, 'current', 'nginx.conf');
  await writeFile(current, '# nothing\n');
  expect(await faultsOf([one])).toContain("nginx's configuration on disk was changed");
  await server.web.repair();
  expect(await faultsOf([one])).toEqual([]);
  expect(server.web.served()).toEqual([one.state.id]);

  await rm(join(server.layout.nginx), { recursive: true });
  await server.web.repair();
  expect(await faultsOf([one])).toEqual([]);
});

test('a change that did not reach nginx is active after the next attempt', async () => {
  const one = await website(siteState('one', ['one.test']));
  await server.web.start([one]);
  expect(await who('two.test')).toBe(404);
  const changed = {
    ...one,
    state: { ...one.state, hostnames: siteState('x', ['one.test', 'two.test']).hostnames },
  };
  const { controlFolder } = runFiles(server.layout);
  await rename(controlFolder, `${controlFolder}-away`);
  await expect(server.web.put(changed)).rejects.toThrow('ENOENT');
  await rename(`${controlFolder}-away`, controlFolder);
  await server.web.put(changed);
  expect([await who('one.test'), await who('two.test')]).toEqual(['one', 'one']);
});
