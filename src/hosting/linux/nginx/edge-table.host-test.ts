import { once } from 'node:events';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import type { InstallState } from '../../contract/install-state.ts';
import { certificateId } from '../../policy/certificate-id.ts';
import { certificateFor, eventually, sendRaw } from '../../policy/edge.fixture.ts';
import { markerPath, markerText } from '../../policy/marker.ts';
import { EDGE_SIZES, tablePaths } from './edge-options.ts';
import { startEdge, type TestEdge } from './edge-table.fixture.ts';
import { runFiles } from './machine-options.ts';
import { siteState } from './test-installs.fixture.ts';
import type { Vhost } from './vhost.ts';
import { workersOf } from './worker-processes.ts';

let edge: TestEdge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

/** A website of one file, served. */
async function website(
  name: string,
  hostnames: Parameters<typeof siteState>[1] = [`${name}.test`],
): Promise<Vhost> {
  const vhost = await edge.makeInstall(siteState(name, hostnames), { php: false });
  await edge.write(vhost.state, 'who.txt', name);
  await edge.serve(vhost);
  return vhost;
}

const renamed = (vhost: Vhost, hostnames: InstallState['hostnames']): Vhost => ({
  ...vhost,
  state: { ...vhost.state, hostnames },
});

const who = async (hostname: string) => {
  const answer = await edge.http(hostname, '/who.txt');
  return answer.status === 200 ? answer.text : answer.status;
};

async function workers(): Promise<number[]> {
  const [nginx] = (await edge.daemons.list()).filter(({ name }) => name === 'nginx');
  return [...(await workersOf(nginx?.pid ?? 0)).all];
}

/** A certificate by OpenSSL. */
async function selfSigned(...options: string[]): Promise<{ chain: string; key: string }> {
  const { stdout } = await runCommand('/usr/bin/openssl', [
    ...['req', '-x509', '-nodes', '-subj', '/CN=odd.test', '-days', '30', '-keyout', '-'],
    ...options,
  ]);
  const [key = '', chain = ''] = stdout.split(/(?=-----BEGIN CERTIFICATE)/);
  return { chain, key };
}

/** The fingerprint of the certificate that a visitor sees. */
async function shown(servername: string): Promise<string> {
  const { port, host } = edge.options.edgeHttps;
  const socket = tlsConnect({ host, port, servername, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

const rowFile = (id: string) => join(tablePaths(edge.layout).installs, `${id}.json`);

describe('rows', () => {
  test('come, change and go without a reload', async () => {
    const before = await workers();
    expect(await who('one.test')).toBe(404);
    const one = await website('one');
    const two = await website('two');
    expect([await who('one.test'), await who('two.test'), await who('one.test.')]).toEqual([
      'one',
      'two',
      'one',
    ]);

    const moved = renamed(one, siteState('x', ['new.test']).hostnames);
    const row = await edge.serve(moved);
    await edge.table.setHolder('one.test', null);
    await edge.control.namesChanged();
    expect([await who('one.test'), await who('new.test'), await who('two.test')]).toEqual([
      404,
      'one',
      'two',
    ]);
    const marker = { installId: row.id, revision: row.revision };
    expect((await edge.http('new.test', markerPath(marker))).text).toBe(markerText(marker));
    expect((await edge.http('two.test', markerPath(marker))).status).toBe(404);

    await edge.table.removeRow(two.state.id);
    await edge.control.installChanged(two.state.id);
    expect(await who('two.test')).toBe(404);
    expect(await workers()).toEqual(before);
  });

  test('a link to a row without the name is no website', async () => {
    const one = await website('linked');
    await edge.table.setHolder('other.test', one.state.id);
    await edge.control.namesChanged();
    expect(await who('other.test')).toBe(404);
    const { hostnames } = siteState('x', ['linked.test', 'other.test']);
    await edge.table.writeRow(edge.rowOf(renamed(one, hostnames)));
    await edge.control.installChanged(one.state.id);
    expect(await who('other.test')).toBe('linked');
  });

  test('a wildcard matches one label, and an exact name wins', async () => {
    await website('wild', ['*.wild.test']);
    await website('exact', ['exact.wild.test']);
    const names = ['any.wild.test', 'exact.wild.test', 'a.b.wild.test', 'wild.test', '*.wild.test'];
    expect(await Promise.all(names.map(who))).toEqual(['wild', 'exact', 404, 404, 404]);
  });

  test('a row that cannot be read stops its website only, until it is replaced', async () => {
    const broken = await website('broken');
    await website('whole');
    const good = JSON.stringify(edge.rowOf(broken));
    const bad = [
      '',
      '{',
      '[]',
      '"x"',
      good.slice(0, -20),
      `{"version":1,"id":"${broken.state.id}"}`,
      good.replace('"version":1', '"version":2'),
      good.replace(/"root":"[^"]*"/, '"root":7'),
    ];
    for (const text of bad) {
      await writeFile(rowFile(broken.state.id), text);
      await edge.control.installChanged(broken.state.id);
      expect([await who('broken.test'), await who('whole.test')], text).toEqual([500, 'whole']);
    }
    await edge.serve(broken);
    expect(await who('broken.test')).toBe('broken');
  });

  test('a name moves between installs while visitors ask for it', async () => {
    const [a, b] = [await website('a', ['moving.test']), await website('b', ['b.test', 'moving.test'])];
    let stop = false;
    const answers = new Set<unknown>();
    const visitors = Array.from({ length: 4 }, async () => {
      while (!stop) answers.add(await who('moving.test').catch(String));
    });
    for (let turn = 0; turn < 10; turn++) {
      for (const { state } of [a, b]) {
        await edge.table.setHolder('moving.test', state.id);
        await edge.control.namesChanged();
        expect(await who('moving.test')).toBe(state.name);
      }
    }
    stop = true;
    await Promise.all(visitors);
    expect(answers).toEqual(new Set(['a', 'b']));
  });
});

test('the table is read back from disk, without rows that cannot be read', async () => {
  const certificate = await certificateFor('read.test');
  const one = await website('read', [{ name: 'read.test', certificate }]);
  const other = await website('unreadable');
  await writeFile(rowFile(other.state.id), '{');
  const row = edge.rowOf(one);
  const rows = await edge.table.rows();
  expect(rows.get(row.id)).toEqual(row);
  expect(rows.has(other.state.id)).toBe(false);
  expect([await edge.table.isIntact(row), await edge.table.isIntact(edge.rowOf(other))]).toEqual([
    true,
    false,
  ]);
  expect(await edge.table.writeRow(row)).toBe(false);
  await writeFile(join(tablePaths(edge.layout).names, 'no-link.test'), '');
  const holders = await edge.table.holders();
  expect([holders.get('read.test'), holders.get('no-link.test')]).toEqual([row.id, '']);
  await edge.table.setHolder('no-link.test', null);
  expect(await edge.certificates.ids()).toContain(certificateId(certificate));
});

test('PHP answers under the host name that the visitor used', async () => {
  const vhost = await edge.makeInstall(siteState('php', ['php.test']));
  await edge.serve(vhost);
  const answer = await edge.http('php.test', '/some/page/?a=b');
  expect(JSON.parse(answer.text)).toMatchObject({
    HTTP_HOST: 'php.test',
    REQUEST_URI: '/some/page/?a=b',
    uid: vhost.uid,
  });
});

test.each([
  '../installs',
  'one.test/../x',
  '.',
  '..',
  '%2e%2e',
  'a\\b',
  '*.wild.test',
  `${'x'.repeat(300)}.test`,
  '"]]os.execute("id")[["',
  'one.test\x01',
])('no file is opened for the host %j', async (hostname) => {
  const answer = await sendRaw(
    edge.options.edgeHttp.port,
    `GET /who.txt HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
});

test('a failure to read a row is remembered, and forgotten when any row changes', async () => {
  const broken = await website('failing');
  const good = JSON.stringify(edge.rowOf(broken));
  const other = await website('changing');
  // What counts for a second may be over in a slow moment.
  await eventually(async () => {
    await writeFile(rowFile(broken.state.id), '{');
    // A worker may know the row from a former turn.
    await edge.control.installChanged(broken.state.id);
    expect(await who('failing.test')).toBe(500);
    await writeFile(rowFile(broken.state.id), good);
    return (await who('failing.test')) === 500;
  });
  await edge.control.installChanged(other.state.id);
  expect(await who('failing.test')).toBe('failing');
});

test('no worker writes its memory, which has keys, to disk when it crashes', async () => {
  for (const pid of await workers()) {
    expect(await readFile(`/proc/${pid}/limits`, 'utf8')).toMatch(/^Max core file size +1 +1 /m);
  }
});

describe('certificates', () => {
  test('are shown by name, as soon as nginx has them', async () => {
    const own = await shown('unknown.test');
    const [first, second] = [await certificateFor('secure.test'), await certificateFor('secure.test')];
    const vhost = await website('secure', [{ name: 'secure.test', certificate: first }, 'plain.test']);
    const before = await shown('secure.test');
    expect(before).not.toBe(own);
    expect([await shown('plain.test'), await shown('SECURE.test')]).toEqual([own, before]);
    await edge.serve(
      renamed(vhost, siteState('x', [{ name: 'secure.test', certificate: second }]).hostnames),
    );
    expect([own, before]).not.toContain(await shown('secure.test'));
    expect((await edge.https('secure.test', '/who.txt')).text).toBe('secure');
    expect(await edge.control.certificates()).toEqual(
      expect.arrayContaining([first, second].map(certificateId)),
    );
    await edge.certificates.remove([certificateId(second)]);
    const held = await edge.control.certificates();
    expect([first, second].map((one) => held.includes(certificateId(one)))).toEqual([true, false]);
  });

  test('nginx gets exactly the written ones', async () => {
    const [kept, stray] = [await certificateFor('kept.test'), await certificateFor('stray.test')];
    await edge.certificates.write([kept, kept]);
    await edge.control.addCertificate(certificateId(stray), stray);
    await edge.certificates.reconcile();
    expect(new Set(await edge.control.certificates())).toEqual(await edge.certificates.ids());
    expect(await edge.certificates.ids()).toContain(certificateId(kept));
  });

  test('one that nginx cannot use leaves its own', async () => {
    const own = await shown('unknown.test');
    const [one, other] = [await certificateFor('odd.test'), await certificateFor('odd.test')];
    const weak = await selfSigned('-newkey', 'rsa:1024', '-sha256');
    const rsa = await selfSigned('-newkey', 'rsa:2048', '-sha256');
    const odd = [
      { chain: 'x', key: 'y' },
      { chain: one.chain, key: 'y' },
      { chain: one.chain, key: other.key },
      { chain: one.chain, key: rsa.key },
      { chain: rsa.chain, key: one.key },
      weak,
    ];
    for (const [n, pems] of odd.entries()) {
      const name = `odd-${n}.test`;
      await website(`odd-${n}`, [{ name, certificate: { ...pems, notAfter: one.notAfter } }]);
      // The second visitor meets what nginx remembers.
      expect([await shown(name), await shown(name)], name).toEqual([own, own]);
      expect((await edge.https(name, '/who.txt')).text).toBe(`odd-${n}`);
    }
  });
});

test('only root reads keys and calls the control server; no tenant reads a row or reaches a socket', async () => {
  const certificate = await certificateFor('kept.test');
  const { state } = await website('kept', [{ name: 'kept.test', certificate }]);
  const { certificates, names } = tablePaths(edge.layout);
  for (const name of await readdir(certificates)) {
    expect((await stat(join(certificates, name))).mode & 0o777).toBe(0o600);
  }
  const can = (user: string, command: string[]) =>
    runCommand('/usr/bin/setpriv', [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', ...command]).then(
      () => true,
      () => false,
    );
  const read = (path: string) => ['/bin/cat', path];
  const { controlSocket, statusSocket } = runFiles(edge.layout);
  const ask = (socket: string) => [
    '/usr/bin/curl',
    '--silent',
    '--max-time',
    '5',
    '--unix-socket',
    socket,
    'http://x/certificates',
  ];
  const key = join(certificates, `${certificateId(certificate)}.key`);
  for (const user of ['www-data', '65534', '259999']) {
    const isWorker = user === 'www-data';
    expect(await can(user, read(key)), user).toBe(false);
    expect(await can(user, ask(controlSocket)), user).toBe(false);
    expect(await can(user, ask(statusSocket)), user).toBe(isWorker);
    expect(await can(user, read(rowFile(state.id))), user).toBe(isWorker);
    expect(await can(user, ['/bin/ls', names]), user).toBe(false);
  }
});

test('the control server refuses what it does not know, and bodies that would reach the disk', async () => {
  await expect(edge.control.call('GET', '/install/x')).rejects.toThrow('status 404');
  await expect(edge.control.call('POST', '/../x')).rejects.toThrow(/status 40\d/);
  await expect(edge.control.call('POST', '/certificate/ab', '[]')).rejects.toThrow('status 400');
  await expect(edge.control.call('POST', '/certificate/ab', ' '.repeat(270_000))).rejects.toThrow(
    'status 413',
  );
});

test('a killed nginx comes back with rows and certificates that changed meanwhile', async () => {
  const certificate = await certificateFor('back.test');
  const vhost = await website('back', ['before.test']);
  await edge.daemons.signal('nginx', 'SIGKILL');
  const changed = renamed(vhost, siteState('x', [{ name: 'back.test', certificate }]).hostnames);
  await edge.certificates.write([certificate]);
  await edge.table.writeRow(edge.rowOf(changed));
  await edge.table.setHolder('back.test', vhost.state.id);
  await eventually(async () => (await who('back.test').catch(() => null)) === 'back');
  expect(await who('before.test')).toBe(404);
  expect(await shown('back.test')).not.toBe(await shown('unknown.test'));
});

test('a full dictionary of keys refuses a certificate, and forgotten numbers only cost a reading', async () => {
  await edge.close();
  edge = await startEdge({ sizes: { ...EDGE_SIZES, state: '32k', keys: '32k', rows: 2, unknownNames: 2 } });
  const first = await website('first');
  const held: string[] = [];
  await expect(async () => {
    for (;;) {
      const id = String(held.length).padStart(32, '0');
      await edge.control.addCertificate(id, { chain: 'c'.repeat(2_000), key: 'k' });
      held.push(id);
    }
  }).rejects.toThrow('nginx has no memory left for another certificate');
  expect((await edge.control.certificates()).toSorted()).toEqual(held);
  const refused = { ...(await certificateFor('full.test')), key: 'k'.repeat(10_000) };
  await expect(edge.certificates.add([refused])).rejects.toThrow('no memory left');
  expect(await edge.certificates.ids()).toEqual(new Set());

  // Enough of them to evict every number.
  for (let count = 0; count < 400; count++)
    await edge.control.installChanged(String(count).padStart(36, '0'));
  expect(await who('first.test')).toBe('first');
  const moved = renamed(first, siteState('x', ['second.test']).hostnames);
  await edge.serve(moved);
  expect([await who('first.test'), await who('second.test')]).toEqual([404, 'first']);
  await rm(rowFile(first.state.id));
  await edge.control.installChanged(first.state.id);
  expect(await who('second.test')).toBe(404);
});
