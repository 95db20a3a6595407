import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { visit } from '../../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { freePort } from '../../../../test/servers/free-port.ts';
import { operatorFor } from '../../../access/caller.ts';
import { serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { parseIdentity } from '../../../hosting/remote/identity.ts';
import { NotFound } from '../../../lib/failures.ts';
import type { Connection } from './connection.ts';

const run = promisify(execFile);
const hasOpenSsh = existsSync('/usr/bin/ssh-keyscan');

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-connection-'));
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
afterAll(async () => {
  await homeport?.remove();
  rmSync(folder, { recursive: true, force: true });
});

const connection = (id = install.id, person = owner, platform = homeport) =>
  platform.services.connections.find(operatorFor(person.userId), id);

/**
 * Lists the files of an install by sftp(1), which asks no questions and connects only if these lines contain the host
 * key.
 */
async function sftp({ host, port, username }: Connection, known: string, keyFile: string): Promise<string> {
  const file = join(folder, 'known_hosts');
  writeFileSync(file, `${known}\n`);
  const options = ['StrictHostKeyChecking=yes', `UserKnownHostsFile=${file}`, 'IdentitiesOnly=yes'];
  const listing = run('sftp', [
    ...['-F', 'none', '-i', keyFile, '-P', String(port), '-b', '-'],
    ...options.flatMap((option) => ['-o', option]),
    `${username}@${host}`,
  ]);
  listing.child.stdin?.end('ls -1\n');
  return (await listing).stdout;
}

/** The private key file of a user who may sign in. */
async function keyOf({ client }: Person): Promise<string> {
  const file = join(folder, crypto.randomUUID());
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  const added = await client.post('/ssh_keys', { public_key: readFileSync(`${file}.pub`, 'utf8') });
  expect(added.status).toBe(201);
  return file;
}

/** The known_hosts lines that OpenSSH gets from a server, and the fingerprints it would ask about. */
async function scanned(host: string, port: number): Promise<{ lines: string[]; listed: string }> {
  const { stdout } = await run('ssh-keyscan', ['-p', String(port), host]);
  const file = join(folder, 'scanned');
  writeFileSync(file, stdout);
  return {
    lines: stdout.trim().split('\n'),
    listed: (await run('ssh-keygen', ['-l', '-f', file])).stdout,
  };
}

describe('the connection of an install', () => {
  it('is that of the embedded host, with its ports', async () => {
    const { hosting } = homeport;
    expect(await connection()).toEqual({
      host: 'localhost',
      port: hosting?.ssh.port,
      username: install.name,
      shell: false,
      host_keys: [expect.objectContaining({ type: 'ED25519' })],
      http_url: `http://${install.name}.localhost:${hosting?.edgeHttp.port}/`,
      https_url: `https://${install.name}.localhost:${hosting?.edgeHttps.port}/`,
      website_url: `http://${install.name}.localhost:${hosting?.edgeHttp.port}/`,
    });
    expect((await visit(homeport, (await connection())?.http_url ?? '')).status).toBe(200);
  });

  it('names the primary domain', async () => {
    const name = `${install.name}.example`;
    await owner.client.post(`/installs/${install.id}/domains`, { name, primary: true });
    expect((await connection())?.https_url).toBe(`https://${name}:${homeport.hosting?.edgeHttps.port}/`);
  });

  it('opens the website by its default domain until the primary domain was seen to reach this platform', async () => {
    const { hosting, platform } = homeport;
    const opened = async () => (await connection())?.website_url;
    expect(await opened()).toBe(`http://${install.name}.localhost:${hosting?.edgeHttp.port}/`);
    await platform.database.write(({ queries }) =>
      queries
        .updateTable('domains')
        .set({ reached: true })
        .where('name', '=', `${install.name}.example`)
        .execute(),
    );
    expect(await opened()).toBe(`http://${install.name}.example:${hosting?.edgeHttp.port}/`);
  });

  it('is unknown to a process beside the host, unless the settings have the ports', async () => {
    const roles = { api: true, hosting: false };
    const beside = (environment: Record<string, string>) =>
      startTestHomeport({ place: homeport.place, roles, environment });
    const unknowing = await beside({});
    const knowing = await beside({
      HOMEPORT_EDGE_HTTP: '127.0.0.1:80',
      HOMEPORT_EDGE_HTTPS: '127.0.0.1:443',
      HOMEPORT_SSH_LISTEN: '127.0.0.1:2222',
    });
    const ask = ({ services }: TestHomeport) =>
      services.connections.find(operatorFor(owner.userId), install.id);
    expect(await ask(unknowing)).toBeNull();
    expect(await ask(knowing)).toMatchObject({
      host: 'localhost',
      port: 2222,
      host_keys: [{ known_hosts: expect.stringMatching(/^\[localhost\]:2222 ssh-ed25519 \S+$/) }],
    });
    await unknowing.remove();
    await knowing.remove();
  });

  it('is missing for a failed install', async () => {
    const failed = await homeport.install(owner, accountId);
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ status: 'failed' }).where('id', '=', failed.id).execute(),
    );
    expect(await connection(failed.id)).toBeNull();
  });
});

describe('the host key', () => {
  it.skipIf(!hasOpenSsh)(
    'matches what OpenSSH finds, and its known_hosts line lets a strict client in',
    async () => {
      const found = await connection();
      if (found === null) throw new Error('there is no connection');
      const [key] = found.host_keys;
      const { lines, listed } = await scanned(found.host, found.port);
      expect(found.host_keys.map((one) => one.known_hosts)).toEqual(lines);
      expect(listed).toContain(` ${key?.fingerprint} `);
      expect(listed).toContain(`(${key?.type})`);
      const keyFile = await keyOf(owner);
      expect(await sftp(found, key?.known_hosts ?? '', keyFile)).toContain('index.html');
      await expect(sftp(found, '', keyFile)).rejects.toThrow(/Host key verification failed/);
    },
  );
});

describe('the portal', () => {
  it('shows it to users who see the install', async () => {
    const portal = await signedIn(homeport, owner);
    const path = (id: string) => `/installs/${id}/connection`;
    const { status, body } = await portal.get(path(install.id));
    expect(status).toBe(200);
    expect(body).toEqual({ connection: await connection() });
    expect(await portal.get(path(crypto.randomUUID()))).toMatchObject(NOT_FOUND);
    const partial = await homeport.person(accountId, 'partial');
    for (const person of [partial, (await homeport.ownedAccount()).owner]) {
      await expect(connection(install.id, person)).rejects.toBeInstanceOf(NotFound);
    }
  });
});

describe('on a Linux host', () => {
  it('uses the host’s machine, or the public name from the operator, with a shell', async () => {
    const machine = await serveMachine();
    const linux = await startTestHomeport({
      environment: { HOMEPORT_HOST: 'linux', HOMEPORT_HOST_RUN_FOLDER: machine.runFolder },
    });
    const { accountId: account, owner: person } = await linux.ownedAccount();
    const placed = await linux.install(person, account);
    const { ports } = machine.description;
    const found = () => connection(placed.id, person, linux);
    expect(await found()).toEqual({
      host: 'localhost',
      port: ports.ssh,
      username: placed.name,
      shell: true,
      host_keys: [
        {
          type: 'ED25519',
          fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/),
          known_hosts: `[localhost]:${ports.ssh} ${machine.description.sshHostKeys?.[0]}`,
        },
      ],
      http_url: `http://${placed.name}.localhost:${ports.http}/`,
      https_url: `https://${placed.name}.localhost:${ports.https}/`,
      website_url: `http://${placed.name}.localhost:${ports.http}/`,
    });

    const [host] = await linux.services.hosts.list();
    await linux.services.hosts.change(host?.name ?? '', { publicName: 'Web.Example.COM.' });
    expect(await found()).toMatchObject({
      host: 'web.example.com',
      host_keys: [{ known_hosts: expect.stringContaining(`[web.example.com]:${ports.ssh} ssh-ed25519 `) }],
      https_url: `https://${placed.name}.localhost:${ports.https}/`,
    });
    await linux.services.hosts.change(host?.name ?? '', { publicName: null });
    expect(await found()).toMatchObject({ host: 'localhost' });

    // Hosts of earlier versions report no keys.
    const { sshHostKeys, ...earlier } = machine.description;
    await linux.services.hosts.note(earlier);
    expect(sshHostKeys).toHaveLength(1);
    expect(await found()).toMatchObject({ host: 'localhost', host_keys: [] });

    await linux.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ host_id: null }).where('id', '=', placed.id).execute(),
    );
    expect(await found()).toBeNull();
    await linux.remove();
    await machine.close();
  });

  onlyInLong(it.skipIf(!hasOpenSsh))('on another machine uses its public name and its own key', async () => {
    const here = await serveMachine({ capacity: 0 });
    const there = await serveMachine();
    const linux = await startTestHomeport({
      environment: { HOMEPORT_HOST: 'linux', HOMEPORT_HOST_RUN_FOLDER: here.runFolder },
    });
    const port = await freePort();
    const { identity } = await linux.services.hosts.add('web2', `https://127.0.0.1:${port}`, {
      publicName: 'localhost',
    });
    const parsed = parseIdentity(identity);
    there.description.id = parsed.hostId;
    await there.listenTls(parsed, port);

    const { accountId: account, owner: person } = await linux.ownedAccount();
    const placed = await linux.install(person, account);
    const found = await connection(placed.id, person, linux);
    if (found === null) throw new Error('there is no connection');
    expect(found).toMatchObject({ host: 'localhost', port: there.description.ports.ssh });
    const [line = ''] = found.host_keys.map((key) => key.known_hosts);
    expect(await sftp(found, line, await keyOf(person))).toContain('index.html');
    await linux.remove();
    await Promise.all([here.close(), there.close()]);
  });
});
