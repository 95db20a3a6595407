import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Value } from 'typebox/value';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { onlyInLong } from '../../../test/rounds.ts';
import type { HostDescription, HostMachine } from '../contract/host.ts';
import { descriptionSchema, LONGEST_SENTENCES } from '../contract/message-values.ts';
import { listeningLog } from '../embedded/embedded-host.fixture.ts';
import { siteState } from '../policy/edge.fixture.ts';
import { connectHost, HostUnreachableError, type RemoteHost, type TimeLimits } from './client.ts';
import { startMachine, type TestMachine } from './embedded-machine.fixture.ts';
import { createAuthority, createClientIdentity, createHostIdentity } from './identity.ts';
import { createHostServer, type HostServerOptions } from './server.ts';

const me = { gid: process.getgid?.() ?? 0, uids: [process.getuid?.() ?? 0] };

let folder: string;
let machine: TestMachine;
const open: (() => unknown)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-limits-'));
  machine = await startMachine();
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
afterAll(async () => {
  await machine?.close();
  await rm(folder, { recursive: true, force: true });
});

const newPath = () => join(folder, `${randomUUID().slice(0, 8)}.sock`);

function connected(path: string, limits: TimeLimits): RemoteHost {
  const remote = connectHost({ name: 'web1', socket: path }, limits);
  open.push(() => remote.close());
  return remote;
}

/** A compromised host that answers with `listener`. */
async function hostile(listener: RequestListener, limits: TimeLimits = {}): Promise<RemoteHost> {
  const server = createServer(listener);
  const path = newPath();
  server.listen(path);
  await once(server, 'listening');
  open.push(() => server.close());
  return connected(path, limits);
}

/** A correct host whose machine the test defines. */
async function serving(
  changes: Partial<HostMachine> = {},
  options: Partial<HostServerOptions> = {},
): Promise<{ path: string; remote: RemoteHost; server: ReturnType<typeof createHostServer> }> {
  const path = newPath();
  const host = { ...machine.machine, ...changes };
  const server = createHostServer({ host, log: listeningLog([]), ...options });
  await server.listenUnix(path, me);
  open.push(() => server.close(50));
  return { path, remote: connected(path, {}), server };
}

describe('a control plane', () => {
  /** Sends line feeds forever. */
  const beating: RequestListener = (_request, response) => {
    response.writeHead(200);
    const beat = setInterval(() => response.write('\n'), 20);
    response.once('close', () => clearInterval(beat));
  };

  it('waits no longer than the limit of the command, even if the host sends line feeds', async () => {
    const remote = await hostile(beating, { describe: 300, withdraw: 3_000 });
    const given: string[] = [];
    const withdrawn = remote
      .withdraw({ hostname: 'shop.test', path: '/x' })
      .finally(() => given.push('withdraw'));
    const described = remote.describe().finally(() => given.push('describe'));
    const refusals = await Promise.allSettled([described, withdrawn]);
    expect(refusals).toMatchObject([
      { reason: expect.any(HostUnreachableError) },
      { reason: expect.any(HostUnreachableError) },
    ]);
    await expect(described).rejects.toThrow(/^The host web1 .* within 0\.3 s/);
    await expect(withdrawn).rejects.toThrow(/within 3 s/);
    expect(given).toEqual(['describe', 'withdraw']);
  });

  it('waits for the command of a job no longer than the job', async () => {
    const remote = await hostile(beating);
    const job = AbortSignal.timeout(200);
    await expect(remote.apply(siteState('shop'), job)).rejects.toThrow(/timeout/);
  });

  it('stops reading an endless answer', async () => {
    const remote = await hostile((_request, response) => {
      response.writeHead(200);
      const line = Buffer.alloc(1024 * 1024, '\n');
      const pour = () => {
        while (!response.destroyed && response.write(line));
      };
      response.on('drain', pour);
      pour();
    });
    await expect(remote.describe()).rejects.toThrow(HostUnreachableError);
  });

  it('knows whether a command left this machine', async () => {
    await expect(connected(newPath(), {}).describe()).rejects.toMatchObject({ isUnsent: true });
    const cut = await hostile((request) => request.socket.destroy());
    await expect(cut.describe()).rejects.toMatchObject({ isUnsent: false });
  });

  it('takes only as many questions as it answers in parallel', async () => {
    let asked = 0;
    const remote = await hostile((request, response) => {
      const isQuestion = request.url?.endsWith('next_question') === true;
      if (isQuestion) asked += 1;
      const question = { id: randomUUID(), kind: 'backup_password', installId: randomUUID() };
      response.end(JSON.stringify({ result: isQuestion ? question : null }));
    });
    const never = () => new Promise<never>(() => {});
    remote.answer({ sshLogin: never, sshRelay: never, backupPassword: never }, () => {});
    await expect.poll(() => asked).toBe(32);
    await sleep(200);
    expect(asked).toBe(32);
  });

  it('pauses between polls of a host that answers at once without a question', async () => {
    const asked: number[] = [];
    const remote = await hostile((_request, response) => {
      asked.push(performance.now());
      response.end('{"result":null}');
    });
    const never = () => Promise.reject(new Error('not asked here'));
    remote.answer({ sshLogin: never, sshRelay: never, backupPassword: never }, () => {});
    await expect.poll(() => asked.length).toBe(2);
    const [first = 0, second = 0] = asked;
    expect(second - first).toBeGreaterThan(500);
  });
});

describe('the description of a host', () => {
  const said = (changes: Partial<HostDescription>) =>
    Value.Check(descriptionSchema, { ...machine.description, ...changes });
  const many = (count: number, of: (index: number) => string) =>
    Array.from({ length: count }, (_, at) => of(at));

  it('is accepted from a real machine', () => {
    expect(said({ sshHostKeys: ['ssh-ed25519 AAAA', 'ecdsa-sha2-nistp256 AAA='] })).toBe(true);
    expect(said({ capacity: 100_000, reservedNames: ['www-data', '_apt', 'Debian-exim', 'host$'] })).toBe(
      true,
    );
  });

  it.each<[string, Partial<HostDescription>]>([
    ['too much capacity', { capacity: 100_001 }],
    ['a thousand versions of PHP', { phpVersions: many(1_000, (at) => `8.${at % 100}`) }],
    ['a thousand versions of WordPress', { wordpressVersions: many(1_000, (at) => `6.${at}`) }],
    ['too many user names', { reservedNames: many(1_001, (at) => `user${at}`) }],
    ['an invalid user name', { reservedNames: ['two words'] }],
    ['an endless name', { reservedNames: ['x'.repeat(65)] }],
    ['a key of two lines', { sshHostKeys: ['ssh-ed25519 AAAA\n* ssh-ed25519 AAAA'] }],
    ['an endless key', { sshHostKeys: [`ssh-rsa ${'A'.repeat(2_800)}`] }],
    ['too many keys', { sshHostKeys: many(9, () => 'ssh-ed25519 AAAA') }],
  ])('is refused with %s', async (_what, changes) => {
    expect(said(changes)).toBe(false);
  });

  it('truncates long output of a program', async () => {
    const { remote } = await serving({
      remove: () => Promise.reject(new Error('x'.repeat(100_000))),
      inspect: async () => [{ thing: 'nginx', message: 'y'.repeat(100_000), mended: null, remedy: null }],
    });
    const failure = await remote.remove(siteState('shop')).catch((error: unknown) => error);
    expect(Object(failure).message).toBe('x'.repeat(LONGEST_SENTENCES));
    expect((await remote.inspect([], false))[0]?.message).toBe('y'.repeat(LONGEST_SENTENCES));
  });
});

describe('a host', () => {
  const HALF = 'POST /v1/describe HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n';

  function opened(path: string, said = ''): Socket {
    const socket = connect(path);
    socket.on('error', () => {});
    open.push(() => socket.destroy());
    socket.write(said);
    return socket;
  }

  it.each([
    ['nothing', ''],
    ['half a head', HALF],
    ['half a body', `${HALF}\r\n{`],
  ])('closes a connection after the limit: %s', async (_what, said) => {
    const { path } = await serving({}, { commandWithinMs: 300 });
    const begun = performance.now();
    await once(opened(path, said), 'close');
    expect(performance.now() - begun).toBeGreaterThan(290);
  });

  it('does not apply the limit to a command in progress', async () => {
    const slow = async () => {
      await sleep(900);
      return '6.8';
    };
    const { remote } = await serving({ addWordpress: slow }, { commandWithinMs: 300 });
    expect(await remote.addWordpress(null)).toBe('6.8');
  });

  it('applies the limit again after a command', async () => {
    const { path } = await serving({}, { commandWithinMs: 300 });
    const socket = opened(path, `${HALF}\r\n{}${HALF}`);
    socket.resume();
    await once(socket, 'close');
  });

  onlyInLong(it)('stays available while many idle clients connect', async () => {
    const { path } = await serving();
    const silent = Array.from({ length: 140 }, () => opened(path));
    await Promise.all(silent.map((socket) => once(socket, 'connect')));
    // Identifying each client takes a process. On a busy machine that exceeds the time limit of a call.
    const remote = connected(path, { describe: 55_000 });
    const described = () => remote.describe().catch((error: unknown) => String(error));
    await expect.poll(described, { timeout: 90_000 }).toEqual(machine.description);
    await expect.poll(() => silent.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(128);
  });

  it('does not let unauthenticated TLS clients block others', async () => {
    const authority = await createAuthority(new Date());
    const identity = await createHostIdentity(authority, machine.description.id, new Date());
    const client = await createClientIdentity(authority, new Date());
    const { server } = await serving();
    const port = await server.listenTls({ host: '127.0.0.1', port: 0 }, identity);
    const strangers = Array.from({ length: 300 }, () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      open.push(() => socket.destroy());
      return socket;
    });
    await expect.poll(() => strangers.filter(({ closed }) => closed).length).toBe(300 - 256);
    const remote = connectHost({
      name: 'web1',
      url: `https://127.0.0.1:${port}`,
      hostId: identity.hostId,
      identity: client,
    });
    open.push(() => remote.close());
    expect(await remote.describe()).toEqual(machine.description);
  });
});
