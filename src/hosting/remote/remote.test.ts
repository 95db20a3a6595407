import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { beforeAll, describe, expect, it } from 'vitest';
import { PermanentHostError } from '../contract/errors.ts';
import type { HostQuestions } from '../contract/questions.ts';
import { ALL_PARTS, MOST_READ_BYTES } from '../contract/snapshots.ts';
import { listeningLog } from '../embedded/embedded-host.fixture.ts';
import { certificateFor, eventually, siteState } from '../policy/edge.fixture.ts';
import { connectHost, HostUnreachableError, type TraceCall } from './client.ts';
import type { TestMachine } from './embedded-machine.fixture.ts';
import { me, serveHost } from './host-server.fixture.ts';
import { createHostServer, type HostServer } from './server.ts';

const noQuestions: HostQuestions = {
  sshLogin: () => Promise.resolve(null),
  sshRelay: () => Promise.resolve(null),
  backupPassword: () => Promise.reject(new Error('not asked here')),
};

const { host, log, open, connected, serving } = serveHost();
let folder: string;
let machine: TestMachine;
let server: HostServer;
let socket: string;
beforeAll(() => {
  ({ folder, machine, server, socket } = host());
});

it('passes the trace of a call on, and the host logs it', async () => {
  const calls: object[] = [];
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const trace: TraceCall = (call, work) => {
    calls.push(call);
    return work({ traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  };
  const remote = connectHost({ name: 'web1', socket }, {}, trace);
  open.push(remote);
  await remote.describe();
  await remote.purge({ id: randomUUID(), name: 'absent' }, 'page').catch(() => {});
  expect(calls).toEqual([{ command: 'purge', host: 'web1' }]);
  await eventually(() => log.some((line) => line.command === 'purge' && line.trace_id === traceId));
});

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
    const limits = { bytes: null, files: null };
    expect(stored).toEqual({ fileBytes: expect.any(Number), files: 1, limits, database: null });
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
    const relayed = { fingerprintSha256: 'users', by: 'web1', address: '192.0.2.1' };
    remote.answer(
      {
        sshLogin: async (name, fingerprint, by) =>
          name === 'shop' && fingerprint === 'SHA256:abc' && by !== 'lost'
            ? { install: { id: installId, name }, userId, relayed }
            : null,
        sshRelay: async (name, fingerprint, pass) => ({
          ...{ install: { id: installId, name }, userId, host: '10.0.0.2', port: 22 },
          hostKeys: [`ssh-ed25519 ${fingerprint}${pass?.fingerprintSha256}`],
        }),
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
      relayed,
    });
    const pass = { fingerprintSha256: 'pass', address: null };
    expect(await server.questions.sshRelay('shop', 'AAAA', pass)).toMatchObject({
      ...{ install: { id: installId, name: 'shop' }, host: '10.0.0.2', port: 22 },
      hostKeys: ['ssh-ed25519 AAAApass'],
    });
    expect(await server.questions.sshLogin('shop', 'SHA256:other')).toBeNull();
    expect(await server.questions.sshLogin('shop', 'SHA256:abc', 'lost')).toBeNull();
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
