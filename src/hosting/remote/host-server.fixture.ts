import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { HostMachine } from '../contract/host.ts';
import { listeningLog } from '../embedded/embedded-host.fixture.ts';
import type { LogLine } from '../policy/edge.fixture.ts';
import { connectHost, type RemoteHost } from './client.ts';
import { startMachine, type TestMachine } from './embedded-machine.fixture.ts';
import type { HostTarget } from './host-target.ts';
import {
  type Certified,
  type ClientIdentity,
  createAuthority,
  createClientIdentity,
  createHostIdentity,
  type HostIdentity,
} from './identity.ts';
import { createHostServer, type HostServer } from './server.ts';

export const me = { gid: process.getgid?.() ?? 0, uids: [process.getuid?.() ?? 0] };

/** A host that answers at a Unix socket and by TLS. */
export interface TestHostServer {
  folder: string;
  machine: TestMachine;
  server: HostServer;
  socket: string;
  port: number;
  authority: Certified;
  identity: HostIdentity;
  client: ClientIdentity;
}

/** Serves a machine during the tests of a file. Connections end after each test. */
export function serveHost() {
  let current: TestHostServer | undefined;
  const log: LogLine[] = [];
  const open: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'homeport-remote-'));
    const machine = await startMachine();
    const authority = await createAuthority(new Date());
    const identity = await createHostIdentity(authority, machine.description.id, new Date());
    const client = await createClientIdentity(authority, new Date());
    const server = createHostServer({ host: machine.machine, log: listeningLog(log, 'info') });
    const socket = join(folder, 'host.sock');
    await server.listenUnix(socket, me);
    const port = await server.listenTls({ host: '127.0.0.1', port: 0 }, identity);
    current = { folder, machine, server, socket, port, authority, identity, client };
  });

  afterEach(async () => {
    for (const { close } of open.splice(0)) await close();
  });

  afterAll(async () => {
    await current?.server.close();
    await current?.machine.close();
    if (current !== undefined) await rm(current.folder, { recursive: true, force: true });
  });

  function host(): TestHostServer {
    if (current === undefined) throw new Error('the host is not served yet');
    return current;
  }

  /** A connection by TLS, or to a socket. */
  function connected(
    target: Partial<Extract<HostTarget, { url: string }>> & { socket?: string } = {},
  ): RemoteHost {
    const { socket: path, ...tls } = target;
    const { port, identity, client } = host();
    const remote = connectHost(
      path === undefined
        ? {
            name: 'web1',
            url: `https://127.0.0.1:${port}`,
            hostId: identity.hostId,
            identity: client,
            ...tls,
          }
        : { name: 'web1', socket: path },
    );
    open.push(remote);
    return remote;
  }

  /** A separate server for a host that the test defines. */
  async function serving(
    changes: Partial<HostMachine>,
  ): Promise<{ server: HostServer; remote: RemoteHost; path: string }> {
    const { folder, machine } = host();
    const path = join(folder, `${randomUUID().slice(0, 8)}.sock`);
    const own = createHostServer({
      host: { ...machine.machine, ...changes },
      log: listeningLog(log, 'info'),
    });
    await own.listenUnix(path, me);
    open.push({ close: () => own.close(100) });
    return { server: own, remote: connected({ socket: path }), path };
  }

  return { host, log, open, connected, serving };
}
