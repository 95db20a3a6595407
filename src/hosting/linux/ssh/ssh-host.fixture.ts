import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { systemClock } from '../../../lib/clock.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import type { HostQuestions, SshLogin } from '../../contract/questions.ts';
import { type Cgroups, createCgroups } from '../daemons/cgroups.ts';
import { createSupervisor } from '../daemons/supervisor.ts';
import { makeHome, removeHome } from '../isolation/folders.ts';
import { enableExtrausers } from '../isolation/nsswitch.ts';
import { createUnixUsers, type UnixUsers } from '../isolation/unix-users.ts';
import type { Daemons } from '../machine/daemon.ts';
import { type LinuxLayout, linuxLayout } from '../machine/layout.ts';
import { findPhpRuntimes } from '../machine/php-runtimes.ts';
import { createSshServer, type HostedLogin, type SshServer, type SshServerOptions } from './ssh-server.ts';

/** A client's key, and its fingerprint as the host is asked about it. */
export interface ClientKey {
  file: string;
  fingerprintSha256: string;
}

export interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** A real sshd with installs of a test's own, and the real clients of OpenSSH. */
export interface SshHost {
  layout: LinuxLayout;
  daemons: Daemons;
  cgroups: Cgroups;
  server: SshServer;
  lines: string[];
  /** Another server over the same folders, as after a restart of the host. */
  another(more?: Partial<SshServerOptions>): SshServer;
  /** What the control plane knows: `name fingerprint` → who it is. */
  allowed: Map<string, SshLogin>;
  /** While it is true the control plane does not answer. */
  away: { is: boolean };
  install(name: string): Promise<HostedLogin>;
  /** Names of installs of another host, and where it passes their sessions on; names of hosts that were given up. */
  elsewhere: { names: Set<string>; relay: HostQuestions['sshRelay']; lost: Set<string> };
  /** Lets exactly the names of `elsewhere` sign in. */
  setRelays(): Promise<void>;
  /** Makes lookups of the install fail. */
  forget(name: string): void;
  key(): Promise<ClientKey>;
  allow(login: HostedLogin, key: ClientKey): void;
  /** Runs ssh(1) to its end, with these further arguments and this input. */
  ssh(name: string, key: ClientKey, command: string[], more?: string[], input?: string): Promise<Ran>;
  /** The arguments of such an ssh(1). */
  sshArguments(name: string, key: ClientKey, command: readonly string[], more?: readonly string[]): string[];
  /** Runs sftp(1) with these commands. */
  sftp(name: string, key: ClientKey, commands: string): Promise<Ran>;
  /** An ssh(1) that signs in and asks for no session; null if it is refused, else it stays. */
  idle(name: string, key: ClientKey): Promise<ChildProcess | null>;
  /** An ssh(1) that stays; resolves once its command has printed its first line. */
  stay(name: string, key: ClientKey, command: string, more?: string[]): Promise<Staying>;
  remove(): Promise<void>;
}

export interface Staying {
  child: ChildProcess;
  firstLine: string;
  /** Resolves when the client has ended. */
  ended: Promise<unknown>;
}

const CGROUP = (id: string) => `install-${id}`;

/** The daemon before sshd: it hides the users of this machine's other hosts. */
const WITH_OWN_USERS = 'mount --bind "$0" /var/lib/extrausers && exec "$@"';

/** `firstUid`: of ten that no other test uses. `ownUsers`: as on another machine, where names of users can be those of this one. */
export async function startSshHost(
  firstUid: number,
  limits: Pick<SshServerOptions, 'recheckMs' | 'unansweredMs' | 'mostConnections'> = {},
  { ownUsers = false } = {},
): Promise<SshHost> {
  const instance = `ssh${randomBytes(4).toString('hex')}`;
  const layout = linuxLayout(await mkdtemp('/srv/hpt-ssh-'), await mkdtemp('/run/hpt-ssh-'));
  for (const folder of [layout.folder, layout.runFolder]) await chmod(folder, 0o711);
  const clients = join(layout.folder, 'clients');
  for (const folder of [clients, layout.mariadbRun, layout.cores, layout.coreOf('1.0')]) await mkdir(folder);
  await enableExtrausers();
  const lines: string[] = [];
  const log: Logger = pino({}, { write: (line) => lines.push(line) });
  const usersFolder = join(layout.folder, 'users');
  await mkdir(usersFolder);
  for (const one of ['passwd', 'group', 'shadow']) await writeFile(join(usersFolder, one), '');
  const users: UnixUsers = createUnixUsers({
    ...{ instance, uids: { first: firstUid, last: firstUid + 8 } },
    ...(ownUsers ? { folder: usersFolder } : {}),
  });
  const cgroups = createCgroups({ instance, log });
  const daemons = createSupervisor({
    runFolder: layout.runFolder,
    cgroups,
    log,
    clock: systemClock,
  });
  await daemons.start();
  const [php] = await findPhpRuntimes(layout);
  if (php === undefined) throw new Error('this machine has no PHP');

  const logins = new Map<string, HostedLogin>();
  const allowed = new Map<string, SshLogin>();
  const away = { is: false };
  const elsewhere: SshHost['elsewhere'] = { names: new Set(), relay: async () => null, lost: new Set() };
  const servers: SshServer[] = [];
  const clientsRunning: ChildProcess[] = [];

  function another(more: Partial<SshServerOptions> = {}): SshServer {
    const made = createSshServer({
      layout,
      daemons: ownUsers ? hidingUsers(daemons, usersFolder) : daemons,
      cgroups,
      listen: { host: '127.0.0.1', port: servers[0]?.port() ?? 0 },
      questions: {
        async sshLogin(name, fingerprint, by) {
          if (away.is) throw new Error('the control plane does not answer');
          if (by !== undefined && elsewhere.lost.has(by)) return null;
          return allowed.get(`${name} ${fingerprint}`) ?? null;
        },
        sshRelay: (...question) => elsewhere.relay(...question),
      },
      relays: { has: (name) => elsewhere.names.has(name), uid: users.relayId },
      installOf: (name) => logins.get(name) ?? null,
      log,
      clock: systemClock,
      ...limits,
      ...more,
    });
    servers.push(made);
    return made;
  }
  const server = another();
  await server.start();
  const [hostKey] = server.hostKeys();
  const known = join(clients, 'known_hosts');
  await writeFile(known, `[127.0.0.1]:${server.port()} ${hostKey}\n`);

  const options = (key: ClientKey) => [
    ...['-F', 'none', '-i', key.file],
    ...[
      'IdentitiesOnly=yes',
      'StrictHostKeyChecking=yes',
      `UserKnownHostsFile=${known}`,
      'BatchMode=yes',
    ].flatMap((option) => ['-o', option]),
  ];
  const sshArguments = (
    name: string,
    key: ClientKey,
    command: readonly string[],
    more: readonly string[] = [],
  ) => [...options(key), ...more, ...['-p', String(server.port()), `${name}@127.0.0.1`], ...command];

  return {
    layout,
    daemons,
    cgroups,
    server,
    lines,
    another,
    allowed,
    away,
    elsewhere,
    setRelays: () => users.setRelays([...elsewhere.names]),

    async install(name) {
      const id = randomUUID();
      const ids = await users.ensure({ installId: id, name, home: layout.homeOf(id), shell: '/bin/sh' });
      const sandbox = { id, name, ...ids, php, wordpressVersion: '1.0' };
      await makeHome(layout, sandbox);
      const login = { install: { id, name }, sandbox, cgroupName: CGROUP(id) };
      await cgroups.set(CGROUP(id), { memoryMb: 256, cpuPercent: 100, processes: 40 });
      logins.set(name, login);
      return login;
    },
    forget: (name) => void logins.delete(name),

    async key() {
      const file = join(clients, randomUUID());
      await runCommand('/usr/bin/ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
      const { stdout } = await runCommand('/usr/bin/ssh-keygen', ['-l', '-f', `${file}.pub`]);
      return { file, fingerprintSha256: /SHA256:(\S+)/.exec(stdout)?.[1] ?? '' };
    },
    allow({ install }, { fingerprintSha256 }) {
      allowed.set(`${install.name} ${fingerprintSha256}`, { install, userId: `owner of ${install.name}` });
    },

    sshArguments,
    ssh: (name, key, command, more, input = '') =>
      outcome(
        runCommand('/usr/bin/ssh', sshArguments(name, key, command, more), {
          input,
          environment: { TERM: 'xterm-256color' },
          timeoutMs: 15_000,
        }),
      ),
    sftp: (name, key, commands) =>
      outcome(
        runCommand(
          '/usr/bin/sftp',
          [...options(key), '-P', String(server.port()), '-b', '-', `${name}@127.0.0.1`],
          { input: commands, folder: clients, timeoutMs: 15_000 },
        ),
      ),

    async idle(name, key) {
      const child = spawn('/usr/bin/ssh', sshArguments(name, key, [], ['-N', '-v']), {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      clientsRunning.push(child);
      const isIn = new Promise<boolean>((resolve) => {
        let said = '';
        child.stderr.on('data', (part) => {
          said += String(part);
          if (said.includes('Entering interactive session')) resolve(true);
        });
        child.once('close', () => resolve(false));
      });
      return (await isIn) ? child : null;
    },

    async stay(name, key, command, more = []) {
      const child = spawn('/usr/bin/ssh', sshArguments(name, key, [command], more), {
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      clientsRunning.push(child);
      const ended = once(child, 'close');
      const first = await Promise.race([once(child.stdout, 'data'), ended]);
      return { child, firstLine: String(first[0]).trim(), ended };
    },

    async remove() {
      for (const child of clientsRunning) child.kill('SIGKILL');
      for (const one of servers) await one.stop();
      await daemons.remove('sshd');
      await daemons.stop();
      await users.setRelays([]);
      for (const { install } of logins.values()) {
        await removeHome(layout, install.id);
      }
      for (const { installId } of await users.list()) await users.remove(installId);
      for (const group of await cgroups.list()) await cgroups.remove(group);
      await removeCgroupsOf(instance);
      for (const folder of [layout.folder, layout.runFolder])
        await rm(folder, { recursive: true, force: true });
    },
  };
}

function hidingUsers(daemons: Daemons, folder: string): Daemons {
  const hide = ['--mount', '/bin/sh', '-c', WITH_OWN_USERS, folder];
  return {
    ...daemons,
    ensure: (spec) => daemons.ensure({ ...spec, command: ['/usr/bin/unshare', ...hide, ...spec.command] }),
  };
}

/** What the groups of an instance were in: empty by now, in each hierarchy. */
async function removeCgroupsOf(instance: string): Promise<void> {
  const root = '/sys/fs/cgroup';
  for (const hierarchy of ['', ...(await readdir(root))]) {
    try {
      await rmdir(join(root, hierarchy, `homeport-${instance}`));
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
    }
  }
}

async function outcome(running: Promise<{ stdout: string; stderr: string }>): Promise<Ran> {
  try {
    return { status: 0, ...(await running) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { status: error.status, stdout: error.stdout, stderr: error.stderr };
  }
}
