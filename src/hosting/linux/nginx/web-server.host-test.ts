import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as tlsConnect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../../test/servers/free-port.ts';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { InstallState } from '../../contract/host.ts';
import { certificateFor, eventually } from '../../policy/edge.fixture.ts';
import type { DaemonSpec } from '../machine/daemon.ts';
import { runCommand } from '../machine/run-command.ts';
import { tablePaths } from './edge-options.ts';
import { runFiles } from './machine-options.ts';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';
import { NGINX } from './test-configuration.ts';
import type { Vhost } from './vhost.ts';
import { createWebServer } from './web-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

/** A website of files alone. */
async function website(state: InstallState): Promise<Vhost> {
  const vhost = await server.makeInstall(state, { php: false });
  await server.write(state, 'who.txt', state.name);
  return vhost;
}

const who = async (hostname: string) => {
  const answer = await server.http(hostname, '/who.txt');
  return answer.status === 200 ? answer.text : answer.status;
};

/** Faults if exactly these websites should be served. */
async function faultsOf(vhosts: Vhost[]): Promise<string[]> {
  expect(server.web.served().toSorted()).toEqual(vhosts.map(({ state }) => state.id).toSorted());
  const faults = await Promise.all(vhosts.map((vhost) => server.web.checkWebsite(vhost)));
  return [...(await server.web.check()), ...faults.filter((fault) => fault !== null)];
}

const generations = () => readdir(join(server.layout.nginx, 'generations'));

/** A certificate whose key has too few bits for OpenSSL as Debian has it, so that nginx cannot use it. */
async function weakCertificate(name: string) {
  const folder = server.layout.folder;
  const [keyFile, chainFile] = [join(folder, 'weak.key'), join(folder, 'weak.pem')];
  await runCommand('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:1024', '-nodes', '-days', '30', '-subj', `/CN=${name}`],
    ...['-keyout', keyFile, '-out', chainFile],
  ]);
  const [key, chain] = [await readFile(keyFile, 'utf8'), await readFile(chainFile, 'utf8')];
  return { chain, key, notAfter: new Date(Date.now() + 1e9).toISOString() };
}

test('websites come, change and go, each in force when the call resolves', async () => {
  await server.web.start([]);
  expect(await who('one.test')).toBe(404);
  const one = await website(siteState('one', ['one.test']));
  const two = await website(siteState('two', ['two.test']));
  await server.web.put(one);
  expect(await who('one.test')).toBe('one');
  await server.web.put(two);
  const moved = { ...one, state: { ...one.state, hostnames: siteState('x', ['new.test']).hostnames } };
  await server.web.put(moved);
  expect([await who('one.test'), await who('new.test'), await who('two.test')]).toEqual([404, 'one', 'two']);
  expect(await faultsOf([moved, two])).toEqual([]);
  await server.web.remove(one.state.id);
  expect([await who('new.test'), await who('two.test')]).toEqual([404, 'two']);
  await server.web.remove(one.state.id);
  expect(await faultsOf([two])).toEqual([]);
  expect(server.web.ports()).toEqual({
    http: server.options.edgeHttp.port,
    https: server.options.edgeHttps.port,
  });
});

test('changes of websites reload nothing, even many at once', async () => {
  await server.web.start([]);
  const [before, pids] = [await generations(), await workers()];
  const vhosts = await Promise.all(
    Array.from({ length: 12 }, (_, i) => website(siteState(`s${i}`, [`s${i}.test`]))),
  );
  await Promise.all(vhosts.map((vhost) => server.web.put(vhost)));
  expect(await Promise.all(vhosts.map((_, i) => who(`s${i}.test`)))).toEqual(vhosts.map((_, i) => `s${i}`));
  await Promise.all(vhosts.map((vhost) => server.web.put(vhost)));
  expect([await generations(), await workers()]).toEqual([before, pids]);
});

async function workers(): Promise<string> {
  const [nginx] = (await server.daemons.list()).filter(({ name }) => name === 'nginx');
  return readFile(`/proc/${nginx?.pid}/task/${nginx?.pid}/children`, 'utf8');
}

test('keeps only active rows, certificates and configurations, with keys for root only', async () => {
  await server.web.start([]);
  const state = siteState('one', [{ name: 'one.test', certificate: await certificateFor('one.test') }]);
  const one = await website(state);
  await server.web.put(one);
  for (let turn = 0; turn < 3; turn++) {
    const certificate = await certificateFor('one.test');
    const hostnames = state.hostnames.map((hostname) => ({ ...hostname, certificate }));
    await server.web.put({ ...one, state: { ...state, hostnames } });
  }
  const { installs, names, certificates, lua } = tablePaths(server.layout);
  expect((await generations()).length).toBe(1);
  expect([await readdir(installs), await readdir(names)]).toEqual([[`${state.id}.json`], ['one.test']]);
  const files = await readdir(certificates);
  expect(files.map((name) => name.split('.')[1] ?? name).toSorted()).toEqual(['index', 'key', 'pem']);
  for (const name of files) expect((await stat(join(certificates, name))).mode & 0o777).toBe(0o600);
  for (const path of [certificates, join(server.layout.nginx, 'generations')]) {
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  }
  expect((await stat(join(server.layout.nginx, 'own.pem'))).mode & 0o777).toBe(0o600);
  expect((await readdir(lua)).length).toBe(1);

  await server.web.remove(state.id);
  expect([await readdir(installs), await readdir(names), await readdir(certificates)]).toEqual([
    [],
    [],
    ['index'],
  ]);
});

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

test('one that nginx cannot use is named, served as before, and keeps no other from coming', async () => {
  await server.web.start([]);
  const one = await website(siteState('one', ['one.test']));
  const two = await website(siteState('two', ['two.test']));
  const bad = await website(siteState('bad', ['bad.test']));
  const worse = await website(siteState('worse', ['worse.test']));
  await server.web.put(bad);
  const weak = { name: 'bad.test', certificate: await weakCertificate('bad.test') };
  const spoilt = { ...bad, state: { ...bad.state, hostnames: siteState('x', [weak]).hostnames } };
  const spoiltToo = { ...worse, state: { ...worse.state, hostnames: siteState('x', [weak]).hostnames } };
  const results = await Promise.allSettled(
    [one, spoilt, two, spoiltToo].map((vhost) => server.web.put(vhost)),
  );
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
  expect(results[1]).toMatchObject({
    reason: {
      name: 'PermanentHostError',
      message: expect.stringMatching(/^cannot serve the website bad as requested: .*key too small/),
    },
  });
  expect([
    await who('one.test'),
    await who('two.test'),
    await who('bad.test'),
    await who('worse.test'),
  ]).toEqual(['one', 'two', 'bad', 404]);
  expect(await faultsOf([one, two, bad])).toEqual([]);
  expect(await faultsOf([one, two, spoilt])).toEqual([expect.stringContaining('key too small')]);
  const { hostnames } = siteState('x', ['bad.test', 'more.test']);
  const earlier = { ...bad, state: { ...bad.state, hostnames } };
  expect(await faultsOf([one, two, earlier])).toEqual(['nginx serves an earlier state of it']);

  // And at start.
  await server.web.start([one, spoilt, two, spoiltToo]);
  expect([await who('one.test'), await who('bad.test'), await who('worse.test')]).toEqual([
    'one',
    'bad',
    404,
  ]);
  const errors = server.log.filter(({ level }) => level >= 50).map(({ msg }) => msg);
  expect(errors.toSorted()).toEqual([
    'cannot serve the website bad as requested and is served as it was before',
    'cannot serve the website worse as requested and is not served',
  ]);

  // And when all is brought back.
  await server.web.repair();
  expect([await who('two.test'), await who('bad.test')]).toEqual(['two', 'bad']);
});

test.each([
  ['Upper.test', {}, /is not a host name/],
  ['a b.test', {}, /is not a host name/],
  ['x.test;}', {}, /is not a host name/],
  ['loop.test', { redirectTo: 'loop.test' }, /redirects to itself/],
  ['x.test', { redirectTo: 'y.test/$uri' }, /which is not a host name/],
  [
    'x.test',
    { certificate: { chain: 'x', key: 'y', notAfter: '2030-01-01T00:00:00.000Z' } },
    /not in PEM form/,
  ],
])('what cannot be is refused before nginx sees it: %s %j', async (name, changes, message) => {
  await server.web.start([]);
  const vhost = await website(siteState('one', [{ name, ...changes }]));
  await expect(server.web.put(vhost)).rejects.toThrow(message);
  await expect(server.web.put(vhost)).rejects.toMatchObject({ name: 'PermanentHostError' });
});

test('a key of another certificate is refused', async () => {
  await server.web.start([]);
  const [mine, other] = [await certificateFor('x.test'), await certificateFor('x.test')];
  const vhost = await website(
    siteState('one', [{ name: 'x.test', certificate: { ...mine, key: other.key } }]),
  );
  await expect(server.web.put(vhost)).rejects.toThrow('the private key belongs to another certificate');
});

test('of two that claim a name the lower id has it, and both calls resolve', async () => {
  await server.web.start([]);
  const first = await website({
    ...siteState('first', ['both.test', 'first.test']),
    id: '00000000-0000-4000-8000-000000000001',
  });
  const second = await website({
    ...siteState('second', ['both.test']),
    id: 'ffffffff-0000-4000-8000-000000000002',
  });
  await Promise.all([server.web.put(second), server.web.put(first)]);
  expect([await who('both.test'), await who('first.test')]).toEqual(['first', 'first']);
  await server.web.remove(first.state.id);
  expect(await who('both.test')).toBe('second');
});

test('a website without names, and a hundred names', async () => {
  await server.web.start([]);
  await server.web.put(await website(siteState('none')));
  const names = Array.from({ length: 100 }, (_, i) => `${'x'.repeat(60)}.${'y'.repeat(60)}.name-${i}.test`);
  await server.web.put(await website(siteState('many', names)));
  expect(await who(names[99] ?? '')).toBe('many');
});

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

  test('purges of pages: long lists too, and one that nginx could not be told of empties the cache later', async () => {
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

test('50 websites change while others are visited: no request fails, and no worker is replaced', async () => {
  const busy = await Promise.all(
    ['one', 'two'].map((name) =>
      website(siteState(name, [`${name}.test`, { name: `www.${name}.test`, redirectTo: `${name}.test` }])),
    ),
  );
  await server.web.start(busy);
  const pids = await workers();
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  let stop = false;
  const visitors = ['one', 'two'].flatMap((name) =>
    Array.from({ length: 2 }, async () => {
      const seen = new Set<string>();
      while (!stop) {
        seen.add(await visited(agent, `${name}.test`));
        seen.add(await visited(agent, `www.${name}.test`));
      }
      return [name, seen] as const;
    }),
  );
  const certificate = await certificateFor('*.test');
  const fifty = Array.from({ length: 50 }, (_, n) => n);
  await mapConcurrent(fifty, 10, async (n) => {
    const name = `t${n}.test`;
    const vhost = await website(siteState(`t${n}`, [name]));
    const change = (hostnames: InstallState['hostnames']) =>
      server.web.put({ ...vhost, state: { ...vhost.state, hostnames } });
    await server.web.put(vhost);
    await change(siteState('x', [name, { name: `www.${name}`, redirectTo: name }]).hostnames);
    await change(siteState('x', [{ name, certificate, forceHttps: true }]).hostnames);
    await server.web.purge(vhost.state.id);
    await server.web.purgePages(vhost.state.id, ['/', '/news']);
    expect(await who(name)).toBe(301);
    if (n % 2 === 0) await server.web.remove(vhost.state.id);
  });
  stop = true;
  for (const [name, seen] of await Promise.all(visitors)) {
    expect(seen).toEqual(new Set([`200 ${name}`, `301 http://${name}.test/who.txt`]));
  }
  agent.destroy();
  expect(await workers()).toBe(pids);
  expect([await who('t48.test'), await who('t49.test')]).toEqual([404, 301]);
});

/** Status, and text or target of an answer, over connections that stay open. */
async function visited(agent: Agent, hostname: string): Promise<string> {
  const { host, port } = server.options.edgeHttp;
  const headers = { Host: hostname };
  const asked = request({ host, port, path: '/who.txt', headers, agent }).end();
  const [response]: IncomingMessage[] = await once(asked, 'response');
  if (response === undefined) throw new Error('no response');
  const content = await text(response);
  return `${response.statusCode} ${response.headers.location ?? content}`;
}

test('a change that nginx could not be told of is active after the next attempt', async () => {
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

test('reports an address in use', async () => {
  const { edgeHttp } = server.options;
  const other = createServer().listen(edgeHttp.port, edgeHttp.host);
  await expect(server.web.start([])).rejects.toThrow(
    `Cannot serve the hosted sites on ${edgeHttp.host}:${edgeHttp.port}: Address already in use (settings HOMEPORT_EDGE_HTTP and HOMEPORT_EDGE_HTTPS).`,
  );
  other.close();
});

test('all addresses, IPv6 too, where that is what is listened on', async () => {
  const ports = {
    edgeHttp: { host: '::', port: await freePort() },
    edgeHttps: { host: '::', port: await freePort() },
  };
  const everywhere = await startServer(ports);
  try {
    await everywhere.web.start([]);
    for (const host of ['127.0.0.1', '::1']) {
      const socket = connect({ host, port: ports.edgeHttp.port });
      await new Promise((resolve, reject) => socket.on('connect', resolve).on('error', reject));
      socket.destroy();
    }
  } finally {
    await everywhere.close();
  }
});
