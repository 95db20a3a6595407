import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  ALL_PARTS,
  type HostMachine,
  type HostQuestions,
  MOST_READ_BYTES,
  PermanentHostError,
} from '../contract/host.ts';
import { listeningLog } from '../embedded/embedded-host.fixture.ts';
import { certificateFor, eventually, type LogLine, siteState } from '../policy/edge.fixture.ts';
import { connectHost, HostUnreachableError, type RemoteHost } from './client.ts';
import { startMachine, type TestMachine } from './embedded-machine.fixture.ts';
import type { HostTarget } from './host-target.ts';
import {
  type Certified,
  type ClientIdentity,
  createAuthority,
  createClientIdentity,
  createHostIdentity,
  formatIdentity,
  type HostIdentity,
  hostNameOf,
  parseIdentity,
} from './identity.ts';
import { createHostServer, type HostServer } from './server.ts';

const me = { gid: process.getgid?.() ?? 0, uids: [process.getuid?.() ?? 0] };
const noQuestions: HostQuestions = {
  sshLogin: () => Promise.resolve(null),
  backupPassword: () => Promise.reject(new Error('not asked here')),
};

let folder: string;
let machine: TestMachine;
let server: HostServer;
let socket: string;
let port: number;
let authority: Certified;
let identity: HostIdentity;
let client: ClientIdentity;
const log: LogLine[] = [];
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-remote-'));
  machine = await startMachine();
  authority = await createAuthority(new Date());
  identity = await createHostIdentity(authority, machine.description.id, new Date());
  client = await createClientIdentity(authority, new Date());
  server = createHostServer({ host: machine.machine, log: listeningLog(log, 'info') });
  socket = join(folder, 'host.sock');
  await server.listenUnix(socket, me);
  port = await server.listenTls({ host: '127.0.0.1', port: 0 }, identity);
});

afterEach(async () => {
  for (const { close } of open.splice(0)) await close();
});

afterAll(async () => {
  await server.close();
  await machine.close();
  await rm(folder, { recursive: true, force: true });
});

function connected(
  target: Partial<Extract<HostTarget, { url: string }>> & { socket?: string } = {},
): RemoteHost {
  const { socket: path, ...tls } = target;
  const remote = connectHost(
    path === undefined
      ? { name: 'web1', url: `https://127.0.0.1:${port}`, hostId: identity.hostId, identity: client, ...tls }
      : { name: 'web1', socket: path },
  );
  open.push(remote);
  return remote;
}

/** A separate server for a host that the test defines. */
async function serving(
  host: Partial<HostMachine>,
): Promise<{ server: HostServer; remote: RemoteHost; path: string }> {
  const path = join(folder, `${randomUUID().slice(0, 8)}.sock`);
  const own = createHostServer({ host: { ...machine.machine, ...host }, log: listeningLog(log, 'info') });
  await own.listenUnix(path, me);
  open.push({ close: () => own.close(100) });
  return { server: own, remote: connected({ socket: path }), path };
}

describe.each(['unix', 'tls'])('a host over %s', (transport) => {
  const remoteHost = () => connected(transport === 'unix' ? { socket } : {});

  it('supports all commands', async () => {
    const remote = remoteHost();
    await remote.start();
    expect(await remote.describe()).toEqual(machine.description);

    const name = `over${transport}`;
    const state = siteState(name, [
      { name: `${name}.hosting.test`, certificate: await certificateFor(`${name}.hosting.test`) },
    ]);
    expect(await remote.apply(state)).toEqual({
      phpVersion: '8.4',
      wordpressVersion: machine.description.wordpressVersions[0],
      stableIps: null,
    });
    await machine.write(state, 'index.html', 'before');
    await remote.purge(state, 'page');
    expect((await machine.http(`${name}.hosting.test`, '/')).text).toBe('before');
    await machine.write(state, 'index.html', 'changed');
    await remote.purgePages(state, ['/other/', '/']);
    expect((await machine.http(`${name}.hosting.test`, '/')).text).toBe('changed');
    await machine.write(state, 'index.html', 'before');

    const backupId = randomUUID();
    const snapshot = await remote.snapshot(state, backupId);
    expect(snapshot).toMatchObject({ files: 1, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    await machine.write(state, 'index.html', 'after');
    expect(await remote.restore(state, backupId)).toEqual(snapshot);
    expect((await machine.http(`${name}.hosting.test`, '/')).text).toBe('before');
    await machine.write(state, 'index.html', 'after');
    await remote.restore(state, backupId, { parts: { files: true, database: 'none' } });
    expect((await machine.http(`${name}.hosting.test`, '/')).text).toBe('before');
    const withoutFiles = { files: false, database: ['wp_posts'], dropAbsent: true };
    await expect(remote.restore(state, backupId, { parts: withoutFiles })).rejects.toThrow(
      'Websites on this host have no database.',
    );
    const archiveId = randomUUID();
    const packed = await remote.pack(state, { backupId, archiveId });
    const gzip = await remote.readPacked(state, archiveId, { offset: 0, length: 2 * MOST_READ_BYTES });
    expect(gzip).toHaveLength(packed.bytes);
    expect(createHash('sha256').update(gzip).digest('hex')).toBe(packed.sha256);
    await remote.discardPacked(state, archiveId);
    await expect(remote.readPacked(state, archiveId, { offset: 0, length: 1 })).rejects.toThrow(
      'The archive no longer exists.',
    );
    await remote.discardSnapshot(state, backupId);
    await expect(remote.restore(state, backupId)).rejects.toThrow(PermanentHostError);

    const stored = await remote.measureStorage(state);
    expect(stored).toEqual({ fileBytes: expect.any(Number), database: null });
    expect(stored.fileBytes).toBeGreaterThan(0);
    await expect(remote.measureStorage({ id: randomUUID(), name: 'missing' })).rejects.toThrow(
      PermanentHostError,
    );
    const usage = await remote.readUsage(null);
    expect(usage.days.find(({ installId }) => installId === state.id)).toMatchObject({ visits: 0 });
    expect(await remote.readUsage(usage)).toMatchObject({ days: [], revision: usage.revision });

    expect(await remote.createLogin(state, 'admin')).toMatchObject({ refused: 'website' });
    expect(await remote.createDatabaseLink(state)).toMatchObject({ refused: 'website' });

    const proof = {
      hostname: `${name}.hosting.test`,
      path: '/.well-known/homeport-check/abc',
      text: 'it is me',
    };
    await remote.publish(proof);
    expect((await machine.http(proof.hostname, proof.path)).text).toBe('it is me');
    await remote.withdraw(proof);
    expect((await machine.http(proof.hostname, proof.path)).text).not.toBe('it is me');

    expect(await remote.inspect([state], true)).toEqual([
      { thing: `install ${name}`, message: 'It has no folder.', mended: true, remedy: null },
    ]);
    expect(machine.inspected.at(-1)).toEqual({ expected: [{ id: state.id, name }], repair: true });
    expect(await remote.addWordpress(null)).toBe('6.9.1');
    expect((await remote.describe()).wordpressVersions[0]).toBe('6.9.1');
    await expect(remote.addWordpress('/root')).rejects.toThrow(PermanentHostError);
    expect((await remote.describe()).wordpressVersions).not.toContain('/root');

    await remote.remove(state);
    await eventually(async () => (await machine.http(`${name}.hosting.test`, '/')).status === 404);
    expect(JSON.stringify(log)).not.toContain('PRIVATE KEY');
  });

  it('creates logins whose tokens are in no log', async () => {
    const login = { token: 'a'.repeat(43), expiresAt: '2026-01-31T09:31:00.000Z', user: 'admin' };
    const asked: unknown[] = [];
    const { remote } = await serving({
      async createLogin(install, user) {
        asked.push([install, user]);
        return login;
      },
    });
    const shop = { id: randomUUID(), name: 'shop' };
    expect(await remote.createLogin(shop, 'ädmin')).toEqual(login);
    expect(await remote.createLogin(shop, null)).toEqual(login);
    expect(asked).toEqual([
      [shop, 'ädmin'],
      [shop, null],
    ]);
    await expect(remote.createLogin(shop, 'two\nlines')).rejects.toThrow('/user');
    expect(JSON.stringify(log)).not.toContain(login.token);
  });

  it('distinguishes permanent failures from others', async () => {
    const remote = remoteHost();
    const gone = siteState('missing');
    await expect(remote.purge(gone, 'page')).rejects.toThrow(
      new PermanentHostError('there is no website missing on this host'),
    );
    const { remote: broken } = await serving({
      remove: () => Promise.reject(new Error('the disk is full')),
    });
    const failure = await broken.remove(gone).catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: 'the disk is full' });
    expect(failure).not.toBeInstanceOf(PermanentHostError);
  });

  it('gets answers to its questions', async () => {
    const remote = remoteHost();
    const userId = randomUUID();
    const installId = randomUUID();
    remote.answer(
      {
        sshLogin: async (name, fingerprint) =>
          name === 'shop' && fingerprint === 'SHA256:abc'
            ? { install: { id: installId, name }, userId }
            : null,
        backupPassword: async (id) => {
          if (id === installId) return 'secret of the backups';
          throw new Error('that install is not on this host');
        },
      },
      () => {},
    );
    expect(await server.questions.sshLogin('shop', 'SHA256:abc')).toEqual({
      install: { id: installId, name: 'shop' },
      userId,
    });
    expect(await server.questions.sshLogin('shop', 'SHA256:other')).toBeNull();
    // Many questions in parallel.
    const passwords = Array.from({ length: 20 }, () => server.questions.backupPassword(installId));
    expect(new Set(await Promise.all(passwords))).toEqual(new Set(['secret of the backups']));
    await expect(server.questions.backupPassword(randomUUID())).rejects.toThrow(
      'that install is not on this host',
    );
    expect(JSON.stringify(log)).not.toContain('secret of the backups');
  });
});

describe('questions', () => {
  it('fail after five seconds without a control plane', async () => {
    const { server: own } = await serving({});
    const begun = performance.now();
    await expect(own.questions.sshLogin('shop', 'SHA256:abc')).rejects.toThrow(/no control plane answers/);
    expect(performance.now() - begun).toBeGreaterThan(4_900);
  });

  it('go to another control plane if the first disconnects with one', async () => {
    const { server: own, path, remote } = await serving({});
    // Takes a question without answering it.
    const silent = new Pool('http://silent', { connect: { socketPath: path } });
    const taken = silent.request({ method: 'POST', path: '/v1/next_question', body: '{}' });
    await sleep(200);
    const answer = own.questions.sshLogin('shop', 'SHA256:abc');
    expect(await (await taken).body.json()).toMatchObject({ result: { kind: 'ssh_login' } });
    remote.answer(noQuestions, () => {});
    expect(await answer).toBeNull();
    await silent.destroy();
  });

  it('are answered again when the host returns, and the fault is reported once', async () => {
    const { server: own, path, remote } = await serving({});
    const faults: unknown[] = [];
    remote.answer(noQuestions, (error) => faults.push(error));
    expect(await own.questions.sshLogin('shop', 'SHA256:abc')).toBeNull();
    await own.close(100);
    await eventually(() => faults.length > 0);
    await sleep(1_200);
    expect(faults).toHaveLength(1);
    const again = createHostServer({ host: machine.machine, log: listeningLog([]) });
    await again.listenUnix(path, me);
    open.push({ close: () => again.close(100) });
    expect(await again.questions.sshLogin('shop', 'SHA256:abc')).toBeNull();
  });
});

describe('commands in progress', () => {
  it('are cancelled when the control plane cancels them', async () => {
    let signalled: AbortSignal | undefined;
    const { remote } = await serving({
      apply: (_state, signal) =>
        new Promise((_resolve, reject) => {
          signalled = signal;
          signal?.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    const giveUp = new AbortController();
    const applied = remote.apply(siteState('slow'), giveUp.signal);
    await eventually(() => signalled !== undefined);
    giveUp.abort(new Error('it took too long'));
    await expect(applied).rejects.toThrow('it took too long');
    await eventually(() => signalled?.aborted === true);
  });

  it('are cancelled when the control plane disconnects', async () => {
    let signalled: AbortSignal | undefined;
    const { remote } = await serving({
      snapshot: (_install, _id, signal) =>
        new Promise((_resolve, reject) => {
          signalled = signal;
          signal?.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    const made = remote.snapshot(siteState('slow'), randomUUID()).catch((error: unknown) => error);
    await eventually(() => signalled !== undefined);
    await remote.close();
    expect(await made).toBeInstanceOf(Error);
    await eventually(() => signalled?.aborted === true);
  });

  it('finish before the host stops', async () => {
    const begun = Promise.withResolvers<void>();
    const { server: own, remote } = await serving({
      addWordpress: async () => {
        begun.resolve();
        await sleep(300);
        return '6.8';
      },
    });
    const added = remote.addWordpress(null);
    await begun.promise;
    await Promise.all([own.close(5_000), expect(added).resolves.toBe('6.8')]);
    await expect(remote.describe()).rejects.toThrow(HostUnreachableError);
  });

  it('send line feeds until they finish', async () => {
    const seenAlive = Promise.withResolvers<void>();
    const { path } = await serving({
      addWordpress: async () => {
        await seenAlive.promise;
        return '6.8';
      },
    });
    const pool = new Pool('http://host', { connect: { socketPath: path } });
    const response = await pool.request({
      method: 'POST',
      path: '/v1/add_wordpress',
      body: '{"source":null}',
    });
    let received = '';
    for await (const part of response.body) {
      received += part;
      seenAlive.resolve();
    }
    expect(received.trimStart()).toBe('{"result":"6.8"}');
    await pool.destroy();
  });
});

/** Versions 0.1 and 0.2 know no restore of parts and no archives. */
describe('a host of an earlier version', () => {
  it('restores whole backups, and says what to do about the rest', async () => {
    const path = join(folder, `${randomUUID().slice(0, 8)}.sock`);
    const result = { bytes: 1, files: 1, sha256: '0'.repeat(64) };
    const old = createHttpServer(async (asked, response) => {
      const body: unknown = JSON.parse((await asked.toArray()).join(''));
      const known = asked.url === '/v1/restore';
      const keys = Object.keys(Object(body)).join();
      const refused = (message: string) => JSON.stringify({ error: { permanent: true, message } });
      if (!known) response.writeHead(404).end(refused(`There is no command POST ${asked.url}`));
      else if (keys === 'install,backupId,from') response.end(JSON.stringify({ result }));
      else response.writeHead(400).end(refused('the arguments of restore: / has additional properties'));
    });
    await once(old.listen(path), 'listening');
    open.push({ close: async () => void old.close() });
    const remote = connected({ socket: path });
    const install = { id: randomUUID(), name: 'shop' };
    const ids = { backupId: randomUUID(), archiveId: randomUUID() };
    expect(await remote.restore(install, ids.backupId)).toEqual(result);
    expect(await remote.restore(install, ids.backupId, { parts: ALL_PARTS })).toEqual(result);
    const partly = { parts: { files: true, database: 'none' as const } };
    for (const refused of [
      remote.restore(install, ids.backupId, partly),
      remote.pack(install, ids),
      remote.discardPacked(install, ids.archiveId),
    ]) {
      await expect(refused).rejects.toThrow(PermanentHostError);
      await expect(refused).rejects.toThrow('Install the same version of Homeport there.');
    }
  });
});

it('an earlier control plane restores whole backups', async () => {
  const state = siteState('earlier', [{ name: 'earlier.hosting.test' }]);
  const remote = connected({ socket });
  await remote.apply(state);
  await machine.write(state, 'index.html', 'before');
  const backupId = randomUUID();
  await remote.snapshot(state, backupId);
  await machine.write(state, 'index.html', 'after');
  const pool = new Pool('http://host', { connect: { socketPath: socket } });
  const { id, name } = state;
  const body = JSON.stringify({ install: { id, name }, backupId, from: null });
  const response = await pool.request({ method: 'POST', path: '/v1/restore', body });
  expect(await response.body.json()).toMatchObject({ result: { files: 1 } });
  await pool.destroy();
  expect((await machine.http('earlier.hosting.test', '/')).text).toBe('before');
});

describe('an invalid request', () => {
  const post = async (path: string, body: string) => {
    const pool = new Pool('http://host', { connect: { socketPath: socket } });
    try {
      const { statusCode, body: answer } = await pool.request({ method: 'POST', path, body });
      return { status: statusCode, answer: await answer.json() };
    } finally {
      await pool.destroy();
    }
  };

  it.each([
    ['/v1/shell', '{}', 404],
    ['/v2/describe', '{}', 404],
    ['/v1/describe', 'not json', 400],
    ['/v1/describe', '[]', 400],
    ['/v1/describe', '{"more":1}', 400],
    ['/v1/remove', '{"install":{"id":"../../etc","name":"shop"}}', 400],
    ['/v1/remove', `{"install":{"id":"${randomUUID()}","name":"shop; rm -rf /"}}`, 400],
    ['/v1/remove', `{"install":{"id":"${randomUUID()}","name":"shop","uid":0}}`, 400],
    ['/v1/purge', `{"install":{"id":"${randomUUID()}","name":"shop"},"cache":"all"}`, 400],
    ['/v1/purge_pages', `{"install":{"id":"${randomUUID()}","name":"shop"},"paths":["http://a/"]}`, 400],
  ])('%s %s: %i', async (path, body, status) => {
    expect(await post(path, body)).toMatchObject({
      status,
      answer: { error: { message: expect.any(String) } },
    });
  });

  it('is refused if the state is invalid, without repeating a key', async () => {
    const state = siteState('shop', [
      { name: 'shop.test\n}', certificate: { chain: 'x', key: 'SECRETKEY', notAfter: 'x' } },
    ]);
    const { status, answer } = await post('/v1/apply', JSON.stringify({ state }));
    expect(status).toBe(400);
    expect(JSON.stringify(answer)).toContain('/state/hostnames/0/name');
    expect(JSON.stringify(answer)).not.toContain('SECRETKEY');
  });

  it('closes the connection if it is too large', async () => {
    const pool = new Pool('http://host', { connect: { socketPath: socket } });
    const large = Buffer.alloc(64 * 1024 * 1024 + 1, 32);
    const answered = await pool
      .request({ method: 'POST', path: '/v1/describe', body: large })
      .then(({ statusCode }) => statusCode)
      .catch(() => 'closed');
    expect([413, 'closed']).toContain(answered);
    await pool.destroy();
    expect(await connected({ socket }).describe()).toEqual(machine.description);
  });

  it('is reported as a difference of versions', async () => {
    const answer = '{"error":{"permanent":false,"message":"no command x"}}';
    const old = createServer((connection) => {
      connection.once('data', () =>
        connection.end(`HTTP/1.1 404 Not Found\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`),
      );
    });
    const path = join(folder, 'old.sock');
    await new Promise<void>((resolve) => old.listen(path, resolve));
    await expect(connected({ socket: path }).describe()).rejects.toThrow(/version/);
    old.close();
  });
});

describe('the socket', () => {
  it('is accessible only to its group', async () => {
    const { mode, gid } = await stat(socket);
    expect(mode & 0o777).toBe(0o660);
    expect(gid).toBe(me.gid);
  });

  it('replaces that of a killed host, but not that of a running one', async () => {
    const other = createHostServer({ host: machine.machine, log: listeningLog([]) });
    await expect(other.listenUnix(socket, me)).rejects.toThrow(/Another "homeport host" listens/);
    expect(await connected({ socket }).describe()).toEqual(machine.description);

    const path = join(folder, 'left.sock');
    const { spawnSync } = await import('node:child_process');
    spawnSync('/usr/bin/perl', [
      '-MIO::Socket::UNIX',
      '-e',
      'IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die $!',
      path,
    ]);
    await stat(path);
    await other.listenUnix(path, me);
    expect(await connected({ socket: path }).describe()).toEqual(machine.description);
    await other.close(100);
    await expect(stat(path)).rejects.toThrow(/ENOENT/);
  });

  it('explains what to do if nothing listens or permission is missing', async () => {
    const path = join(folder, 'none.sock');
    await expect(connected({ socket: path }).describe()).rejects.toThrow(
      `The host web1 does not answer: nothing listens at ${path}. Start it there, as root, with "homeport host"`,
    );
    if (process.getuid?.() === 0) return;
    const { path: closed } = await serving({});
    await chmod(closed, 0o000);
    await expect(connected({ socket: closed }).describe()).rejects.toThrow(/HOMEPORT_HOST_GROUP/);
  });

  it('fails a call if the host stops during it', async () => {
    const { server: own, remote } = await serving({ addWordpress: () => new Promise(() => {}) });
    const added = remote.addWordpress(null).catch((error: unknown) => error);
    await sleep(100);
    await own.close(50);
    expect(await added).toBeInstanceOf(Error);
  });
});

describe('mutual TLS', () => {
  it('refuses clients without a certificate', async () => {
    const connection = request(`https://127.0.0.1:${port}/v1/describe`, {
      method: 'POST',
      body: '{}',
      dispatcher: new Pool(`https://127.0.0.1:${port}`, { connect: { rejectUnauthorized: false } }),
    });
    await expect(connection).rejects.toThrow();
  });

  it('refuses a certificate of another authority', async () => {
    const foreign = await createClientIdentity(await createAuthority(new Date()), new Date());
    await expect(connected({ identity: { ...foreign, ca: client.ca } }).describe()).rejects.toThrow(
      HostUnreachableError,
    );
  });

  it('refuses a host that impersonates the control plane', async () => {
    const posing = { certificate: identity.certificate, key: identity.key, ca: identity.ca };
    await expect(connected({ identity: posing }).describe()).rejects.toThrow(HostUnreachableError);
  });

  it('does not connect to another host at the same address', async () => {
    await expect(connected({ hostId: randomUUID() }).describe()).rejects.toThrow(
      /the server at https:\S+ is not this host/,
    );
  });

  it('does not connect to a host of another authority', async () => {
    const foreign = await createClientIdentity(await createAuthority(new Date()), new Date());
    await expect(connected({ identity: foreign }).describe()).rejects.toThrow(/is not this host/);
  });

  it('does not connect to a control plane at a host’s address', async () => {
    const posing = createHostServer({ host: machine.machine, log: listeningLog([]) });
    const at = await posing.listenTls({ host: '127.0.0.1', port: 0 }, { ...identity, ...client });
    open.push({ close: () => posing.close(100) });
    await expect(connected({ url: `https://127.0.0.1:${at}` }).describe()).rejects.toThrow(
      /is not this host/,
    );
  });

  it('requires TLS 1.3', async () => {
    const outcome = await new Promise((resolve) => {
      httpsRequest({
        host: '127.0.0.1',
        port,
        servername: hostNameOf(identity.hostId),
        ca: client.ca,
        cert: client.certificate,
        key: client.key,
        maxVersion: 'TLSv1.2',
      })
        .on('response', resolve)
        .on('error', resolve)
        .end();
    });
    expect(outcome).toMatchObject({ message: expect.stringMatching(/protocol version/) });
  });

  it('explains what to do if nothing listens', async () => {
    await expect(connected({ url: 'https://127.0.0.1:9' }).describe()).rejects.toThrow(
      /nothing answers at https:\/\/127\.0\.0\.1:9 .*HOMEPORT_HOST_LISTEN/,
    );
  });

  it('names the setting if the address is in use', async () => {
    await expect(server.listenTls({ host: '127.0.0.1', port }, identity)).rejects.toThrow(
      /HOMEPORT_HOST_LISTEN/,
    );
  });
});

describe('an identity file', () => {
  it('can be read after writing', () => {
    expect(parseIdentity(formatIdentity(identity))).toEqual(identity);
  });

  it.each([
    ['nothing', () => ''],
    ['a certificate alone', () => identity.certificate],
    ['the control plane’s', () => formatIdentity({ ...client, hostId: 'x' })],
  ])('is not %s', (_what, text) => {
    expect(() => parseIdentity(text())).toThrow(/homeport host add/);
  });
});
