import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../../../error-code.ts';
import { OperatorError } from '../../../operator-error.ts';
import { ifThere } from '../../if-there.ts';
import { runCommand, succeeds } from '../run-command.ts';

const RELEASES = ['12', '13'];

/** The release, like `Debian 12`. Throws OperatorError for a machine that the Linux host is not made for. */
export async function requireDebian(file = '/etc/os-release'): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const fieldOf = (name: string) => new RegExp(`^${name}="?([^"\\n]*)"?$`, 'm').exec(text)?.[1];
  const release = fieldOf('VERSION_ID') ?? '';
  if (fieldOf('ID') !== 'debian' || !RELEASES.includes(release)) {
    const name = fieldOf('PRETTY_NAME') ?? 'an unknown system';
    throw new OperatorError(`The Linux host runs on Debian 12 or 13; this machine is ${name}.`);
  }
  return `Debian ${release}`;
}

/** The group whose members may use the host's socket. True if it was made. */
export async function ensureGroup(name: string): Promise<boolean> {
  if (await succeeds('getent', ['group', name])) return false;
  await runCommand('groupadd', ['--system', name]);
  return true;
}

/** The user that the control plane runs as, in the group of its name. True if it was made. */
export async function ensureControlPlaneUser(name: string, group: string, home: string): Promise<boolean> {
  if (await succeeds('getent', ['passwd', name])) return false;
  await runCommand('useradd', [
    ...['--system', '--gid', group, '--home-dir', home, '--create-home', '--shell', '/usr/sbin/nologin'],
    name,
  ]);
  return true;
}

/** Lets a person use the host's socket. True if they could not before. */
export async function addToGroup(user: string, group: string): Promise<boolean> {
  const { stdout } = await runCommand('id', ['--name', '--groups', '--zero', user]);
  if (stdout.split('\0').includes(group)) return false;
  await runCommand('usermod', ['--append', '--groups', group, user]);
  return true;
}

/** Writes a file unless one is there, which is its operator's. True if it was written. */
export async function provideFile(path: string, content: string, mode: number): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, content, { mode, flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Writes a file that is ours alone, whatever stands there. True if that changed it. */
export async function replaceFile(path: string, content: string, mode: number): Promise<boolean> {
  const present = await ifThere(readFile(path, 'utf8'));
  if (present === content) return false;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode });
  return true;
}

/**
 * What of the kernel's the sandboxes need and this machine does not give, one sentence each. They are needed by the
 * users of websites, so they are tried as one of no privileges.
 */
export async function missingAbilities(): Promise<string[]> {
  const faults: string[] = [];
  const sandbox = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--', '/bin/true'];
  const asNobody = [
    '--reuid=65534',
    '--regid=65534',
    '--clear-groups',
    '--no-new-privs',
    'bwrap',
    ...sandbox,
  ];
  if (!(await succeeds('setpriv', asNobody))) {
    faults.push(
      'bubblewrap cannot make user namespaces for users without privileges (sysctl kernel.unprivileged_userns_clone=1)',
    );
  }
  if (!(await succeeds('nft', ['list', 'tables']))) faults.push('nftables cannot be used by root here');
  return faults;
}
