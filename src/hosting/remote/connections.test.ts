import { randomUUID } from 'node:crypto';
import { chmod, stat } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, request } from 'undici';
import { beforeAll, describe, expect, it } from 'vitest';
import { listeningLog } from '../embedded/embedded-host.fixture.ts';
import { HostUnreachableError } from './client.ts';
import type { TestMachine } from './embedded-machine.fixture.ts';
import { me, serveHost } from './host-server.fixture.ts';
import {
  type ClientIdentity,
  createAuthority,
  createClientIdentity,
  formatIdentity,
  type HostIdentity,
  hostNameOf,
  parseIdentity,
} from './identity.ts';
import { createHostServer, type HostServer } from './server.ts';

const { host, open, connected, serving } = serveHost();
let folder: string;
let machine: TestMachine;
let server: HostServer;
let socket: string;
let port: number;
let identity: HostIdentity;
let client: ClientIdentity;
beforeAll(() => {
  ({ folder, machine, server, socket, port, identity, client } = host());
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
