import { readdir, readFile, stat } from 'node:fs/promises';
import { Agent } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rounds } from '../../../../test/rounds.ts';
import { freePort } from '../../../../test/servers/free-port.ts';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { InstallState } from '../../contract/install-state.ts';
import { certificateFor } from '../../policy/edge.fixture.ts';
import { tablePaths } from './edge-options.ts';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';
import { visitsOf } from './web-server.fixture.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

const { website, who, faultsOf, workers, visited } = visitsOf(() => server);

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

const IMPOSSIBLE: readonly [string, object, RegExp][] = [
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
];

test('what cannot be is refused before nginx sees it', async () => {
  await server.web.start([]);
  for (const [name, changes, message] of IMPOSSIBLE) {
    const vhost = await website(siteState('one', [{ name, ...changes }]));
    await expect(server.web.put(vhost), name).rejects.toThrow(message);
    await expect(server.web.put(vhost), name).rejects.toMatchObject({ name: 'PermanentHostError' });
  }
  // A key of another certificate.
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

test('many websites change while others are visited: no request fails, and no worker is replaced', async () => {
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
  const numbers = Array.from({ length: rounds(10, 50) }, (_, n) => n);
  await mapConcurrent(numbers, 10, async (n) => {
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
  expect([await who('t8.test'), await who('t9.test')]).toEqual([404, 301]);
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
