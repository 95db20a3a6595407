import { chown, mkdtemp, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publicFolder } from '../../src/api/public-certificate.ts';
import { type Account, whyNotAs } from '../../src/cli/host/unprivileged.ts';
import { takesConnections } from '../../src/cli/platform/host-socket.ts';
import { hasSystemd } from '../../src/lib/has-systemd.ts';
import { runCommand, succeeds } from '../../src/lib/run-command.ts';
import { type Environment, environmentFor, type Running, run, serve } from '../cli/run-homeport.ts';
import { onlyInLong } from '../rounds.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

/** The program chooses its names itself, so a Homeport that already runs on this machine would be mistaken for it. */
const isFree = !(await takesConnections('/run/homeport-host/host.sock')) && !hasSystemd();

describe.runIf(isFree)('a server started by root without systemd', () => {
  let machine: TestMachine;
  let dataDir: string;
  let environment: Environment;
  let madeUser: boolean;
  let account: Account;

  beforeAll(async () => {
    machine = await createPreparedMachine();
    madeUser = !(await succeeds('getent', ['passwd', 'homeport']));
    if (madeUser) await runCommand('useradd', ['--system', '--user-group', '--no-create-home', 'homeport']);
    account = await accountNamed('homeport');
    dataDir = await mkdtemp('/srv/hpt-data-');
    environment = await environmentFor(
      { settings: { databaseUrl: null, dataDir }, remove: async () => {} },
      { ...machine.environment, HOMEPORT_HOST_GROUP: 'homeport' },
    );
  });

  afterAll(async () => {
    await machine?.remove();
    await runCommand('nft', ['delete', 'table', 'inet', 'homeport_homeport']).catch(() => {});
    for (const folder of [dataDir, publicFolder(dataDir)]) await rm(folder, { recursive: true, force: true });
    if (madeUser) await runCommand('userdel', ['homeport']);
  });

  const socket = () => `${machine.runFolder}/host.sock`;

  const answers = () =>
    succeeds('curl', [
      '--silent',
      '--insecure',
      '--fail',
      `https://${environment.HOMEPORT_LISTEN}/v1/status`,
    ]);

  /** SIGTERM ends the server, the host and every daemon. */
  async function endOf(server: Running): Promise<void> {
    server.process.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
    expect(await processesNaming(machine.folder)).toEqual([]);
  }

  const apiOf = async (server: Running) =>
    (await childrenOf(server.process.pid ?? 0)).filter(({ command }) => / serve( |$)/.test(command));

  onlyInLong(test)(
    'runs as the user from the setup, who gets a new data folder, and stops gracefully',
    async () => {
      const server = await serve(environment, '--only', 'api');
      expect((await apiOf(server)).map(({ uid }) => uid)).toEqual([String(account.uid)]);
      expect(server.stderr()).not.toContain('as root');
      server.process.kill('SIGTERM');
      expect((await server.ended).code).toBe(0);
    },
  );

  onlyInLong(test)('runs as root if that user cannot use the data folder, and says why', async () => {
    const key = `${dataDir}/sealing.key`;
    await chown(key, 0, 0);
    const server = await serve(environment, '--only', 'api');
    expect(server.stderr()).toContain(`${key} is another user's; \\"chown -R homeport: ${dataDir}\\"`);
    expect((await apiOf(server)).map(({ uid }) => uid)).toEqual(['0']);
    server.process.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
    await rm(dataDir, { recursive: true });
  });

  test('runs as the user from the setup, starts the host beside it, and restarts that when it dies, while the server goes on', async () => {
    const server = await serve(environment);
    const [api] = await apiOf(server);
    expect(api?.uid).toBe(String(account.uid));
    expect(server.stderr()).not.toContain('as root');
    const first = await hostOf(server);
    process.kill(first, 'SIGKILL');
    await server.printed('the host of this machine was ended by SIGKILL');
    await until(async () => (await hostOf(server)) !== first && (await takesConnections(socket())));
    expect(await apiOf(server)).toEqual([api]);

    // A second host would mistake the daemons of this one for leftovers.
    const running = await daemonsNaming(machine.folder);
    const another = await run(environment, 'host');
    expect(another.stderr).toContain(`Another "homeport host" listens at ${socket()}.`);
    expect(another.code).toBe(1);
    expect(await daemonsNaming(machine.folder)).toEqual(running);
    await endOf(server);
  });

  onlyInLong(test)('restarts the server when it is killed, while the websites go on', async () => {
    const server = await serve(environment);
    const [api] = await apiOf(server);
    const host = await hostOf(server);
    const before = await daemonsNaming(machine.folder);
    process.kill(api?.pid ?? 0, 'SIGKILL');
    await server.printed('the server was ended by SIGKILL');
    await until(async () => (await answers()) && (await apiOf(server))[0]?.pid !== api?.pid);
    expect(await apiOf(server)).toHaveLength(1);
    expect(await hostOf(server)).toBe(host);
    expect(await daemonsNaming(machine.folder)).toEqual(before);
    await endOf(server);
  });

  onlyInLong(test)('leaves nothing when it is killed, and the next one starts its own host', async () => {
    const killed = await serve(environment);
    const orphan = await hostOf(killed);
    killed.process.kill('SIGKILL');
    // Immediately: the host of the killed server may still be ending.
    const next = await serve(environment);
    expect(await hostOf(next)).not.toBe(0);
    expect(await hostOf(next)).not.toBe(orphan);
    expect(await takesConnections(socket())).toBe(true);
    next.process.kill('SIGKILL');
    await until(async () => (await processesNaming(machine.folder)).length === 0);
    expect(await takesConnections(socket())).toBe(false);
  });

  test('names other reasons why that user cannot run it', async () => {
    const { config } = machine;
    const why = (changes: Partial<typeof config>) =>
      whyNotAs(account, { ...config, dataDir, ...changes }, undefined);
    expect(await why({ tlsKey: '/etc/shadow' })).toBe('/etc/shadow cannot be read by it');
    expect(await why({ dataDir: '/root/homeport/data' })).toBe(
      '/root, which the data folder is in, is closed to it',
    );
    expect(await why({})).toBeNull();
  });
});

interface Child {
  pid: number;
  uid: string;
  command: string;
}

async function childrenOf(pid: number): Promise<Child[]> {
  const { stdout } = await runCommand('/bin/ps', ['-eo', 'ppid=,pid=,uid=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const [, parent, child, uid = '', command = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parent) === pid ? [{ pid: Number(child), uid, command }] : [];
  });
}

/** Process of the host; 0 if none runs. */
async function hostOf(server: Running): Promise<number> {
  const children = await childrenOf(server.process.pid ?? 0);
  return children.find(({ command }) => / host$/.test(command))?.pid ?? 0;
}

/** Processes with open files in a folder. */
async function processesNaming(folder: string): Promise<string[]> {
  const { stdout } = await runCommand('/bin/ps', ['-eo', 'pid=,args=']);
  return stdout.split('\n').filter((line) => line.includes(folder));
}

/** Daemons by process id, without the processes that nginx and MariaDB start and end themselves. */
async function daemonsNaming(folder: string): Promise<string[]> {
  const lines = await processesNaming(folder);
  return lines.filter((line) => / (nginx: master|\/usr\/sbin\/(mariadbd|sshd))/.test(line)).sort();
}

async function accountNamed(name: string): Promise<Account> {
  const { stdout } = await runCommand('getent', ['passwd', name]);
  const [, , uid, gid, , home = ''] = stdout.split(':');
  return { name, uid: Number(uid), gid: Number(gid), home };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tried = 0; tried < 900; tried++) {
    if (await holds()) return;
    await pause(50);
  }
  throw new Error('the condition was not met within 45 s');
}
