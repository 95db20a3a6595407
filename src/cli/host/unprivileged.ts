import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { mkdir, open, readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { preparePublicFolder } from '../../api/public-certificate.ts';
import type { Config } from '../../config/config.ts';
import { createFolders } from '../../lib/create-folders.ts';
import { ifThere } from '../../lib/if-there.ts';
import { CONTROL_PLANE_USER } from '../../lib/own-command.ts';
import { CommandError, runCommand } from '../../lib/run-command.ts';
import { PROGRAM } from './beside.ts';

/** A Unix user without privileges, and the group that may use the host's socket. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
  home: string;
}

/** Files that the server reads. */
type Files = 'sealingKey' | 'tlsCert' | 'tlsKey' | 'acmeCa';
type Served = Pick<Config, 'dataDir' | 'listen' | 'metricsListen' | Files>;

/**
 * The user for a server that root starts. Null if it must run as root; the log has the reason and a fix. `settings`: the file of
 * `--config`.
 */
export async function unprivilegedAccount(
  config: Config,
  { settings, log }: { settings: string | undefined; log: Logger },
): Promise<Account | null> {
  try {
    const account = await accountOf(CONTROL_PLANE_USER, config.hostGroup);
    const reason =
      account === null
        ? 'there is no such user; "homeport host setup" creates it'
        : await whyNotAs(account, config, settings);
    if (reason === null) return account;
    log.warn({ reason }, `the server stays root, because it cannot run as the user ${CONTROL_PLANE_USER}`);
  } catch (err) {
    log.warn(
      { err },
      `the server stays root, because it is unknown whether ${CONTROL_PLANE_USER} can run it`,
    );
  }
  return null;
}

/** A command line that runs another command as an unprivileged user. The kernel ends it with this process, even after SIGKILL. */
export function commandAs({ uid, gid }: Account, command: readonly string[]): [string, ...string[]] {
  const user = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'];
  return ['/usr/bin/setpriv', ...user, '--pdeathsig=TERM', '--', ...command];
}

/** A user by name, with the group that may use the host's socket; null if there is no such user or group. */
export async function accountOf(name: string, group: string): Promise<Account | null> {
  const [user, members] = await Promise.all([entryOf('passwd', name), entryOf('group', group)]);
  if (user === null || members === null) return null;
  return { name, uid: Number(user[2]), gid: Number(members[2]), home: user[5] ?? '/' };
}

async function entryOf(table: 'passwd' | 'group', name: string): Promise<string[] | null> {
  try {
    return (await runCommand('getent', [table, name])).stdout.trim().split(':');
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}

/**
 * The reason why a user cannot run the server, with a fix; null if the user can. Gives an empty data folder to the user.
 * `anyPort`: whether the user may listen on every port.
 */
export async function whyNotAs(
  account: Account,
  config: Served,
  settings: string | undefined,
  { anyPort = false }: { anyPort?: boolean } = {},
): Promise<string | null> {
  if (!(await succeedsAs(account, [process.execPath, PROGRAM, '--version']))) {
    return `${PROGRAM} cannot be run by it; install Homeport where all users can read it, such as /opt/homeport`;
  }
  const first = Number(await readFile('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
  for (const address of [config.listen, config.metricsListen]) {
    if (!anyPort && address !== null && address.port > 0 && address.port < first) {
      return `it may not listen on port ${address.port} (sysctl net.ipv4.ip_unprivileged_port_start=${address.port})`;
    }
  }
  const { sealingKey, tlsCert, tlsKey, acmeCa } = config;
  for (const file of [settings, sealingKey, tlsCert, tlsKey, acmeCa]) {
    if (file && !(await succeedsAs(account, ['/usr/bin/test', '-r', file])))
      return `${file} cannot be read by it`;
  }
  return dataFolderFault(account, config.dataDir);
}

/**
 * Runs a command as the user and returns its output. Rejects with a CommandError. It has a session of its own, because it could otherwise type
 * commands into the terminal of root: TIOCSTI in ioctl_tty(2). A process of the same user may control it.
 */
export async function runAs(
  account: Account,
  command: readonly string[],
  input = '',
): Promise<{ stdout: string; stderr: string }> {
  const [file, ...args] = commandAs(account, command);
  return runCommand(file, args, { input, ownSession: true });
}

/** Whether a command succeeds as the user. */
export async function succeedsAs(account: Account, command: readonly string[]): Promise<boolean> {
  try {
    await runAs(account, command);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/** Like {@link runAs}, with the output of this process. Returns the exit status; null after a signal. */
export async function showAs(account: Account, command: readonly string[]): Promise<number | null> {
  const [file, ...args] = commandAs(account, command);
  const { HOME, USER, LOGNAME, ...environment } = process.env;
  const child = spawn(file, args, {
    cwd: '/',
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...environment, HOME: account.home, USER: account.name, LOGNAME: account.name },
    detached: true,
  });
  const [status]: unknown[] = await once(child, 'exit');
  return typeof status === 'number' ? status : null;
}

async function dataFolderFault(account: Account, folder: string): Promise<string | null> {
  const entries = await ifThere(readdir(folder));
  const closed = await closedFolder(account, dirname(folder));
  if (closed !== null) return `${closed}, which the data folder is in, is closed to it`;
  if (entries === null) {
    createFolders(dirname(folder), 0o755);
    await mkdir(folder, { mode: 0o700 });
  }
  if (entries === null || entries.length === 0) await giveAway(folder, account);
  const { stdout } = await runCommand('find', [
    folder,
    '-not',
    '-uid',
    String(account.uid),
    '-print',
    '-quit',
  ]);
  if (stdout === '') {
    // The user cannot create it where only root can write. Without it the server warns, and runs.
    await preparePublicFolder(folder).catch(() => undefined);
    return null;
  }
  const remedy = `"chown -R ${account.name}: ${folder}" gives it the data folder`;
  return `${stdout.trim()} is another user's; ${remedy}`;
}

/** The folder, or its nearest existing parent, if the user may not pass through it. */
async function closedFolder(account: Account, folder: string): Promise<string | null> {
  if ((await ifThere(readdir(folder))) === null) return closedFolder(account, dirname(folder));
  return (await succeedsAs(account, ['/usr/bin/test', '-x', folder])) ? null : folder;
}

/** Whether a folder is empty and belongs to root, as a new volume of a container. */
async function giveAway(folder: string, { uid, gid }: Account): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    if ((await handle.stat()).uid === 0) await handle.chown(uid, gid);
  } finally {
    await handle.close();
  }
}
