import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { CommandError, runCommand, succeeds } from '../../../lib/run-command.ts';
import { firewallRules } from '../isolation/firewall-rules.ts';

const RELEASES = ['12', '13'];

/** The Debian release, like `Debian 12`. Throws OperatorError for an unsupported system. */
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

/** Creates the group whose members may use the host's socket. True if it is new. */
export async function ensureGroup(name: string): Promise<boolean> {
  if (await succeeds('getent', ['group', name])) return false;
  await runCommand('groupadd', ['--system', name]);
  return true;
}

/** Creates the control plane's user, with a group of the same name. True if it is new. */
export async function ensureControlPlaneUser(name: string, group: string, home: string): Promise<boolean> {
  if (await succeeds('getent', ['passwd', name])) return false;
  await runCommand('useradd', [
    // Its home is the data folder of the control plane, and starts empty.
    ...['--system', '--gid', group, '--home-dir', home, '--no-create-home', '--shell', '/usr/sbin/nologin'],
    name,
  ]);
  return true;
}

/** Lets a user use the host's socket. True if they could not before. */
export async function addToGroup(user: string, group: string): Promise<boolean> {
  const { stdout } = await runCommand('id', ['--name', '--groups', '--zero', user]);
  if (stdout.split('\0').includes(group)) return false;
  await runCommand('usermod', ['--append', '--groups', group, user]);
  return true;
}

/** Writes a file unless one exists, which then belongs to the operator. True if it was written. */
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

/** Writes a file that only Homeport manages. True if it changed. */
export async function replaceFile(path: string, content: string, mode: number): Promise<boolean> {
  const present = await ifThere(readFile(path, 'utf8'));
  if (present === content) return false;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode });
  return true;
}

/** Programs that {@link missingAbilities} tries; tests use their own. */
interface Programs {
  bwrap: string;
  nft: string;
}

const AS_NOBODY = ['--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs'];
const NAMESPACES = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup'];
const NOTHING = ['--ro-bind', '/', '/', '--', '/bin/true'];

/**
 * Abilities of the kernel that the sandboxes and the firewall need and this machine lacks, one sentence each. Tries the sandbox
 * without privileges, as websites do, and loads firewall rules in a separate network namespace.
 */
export async function missingAbilities(
  { bwrap, nft }: Programs = { bwrap: '/usr/bin/bwrap', nft: '/usr/sbin/nft' },
): Promise<string[]> {
  const faults: string[] = [];
  const sandbox = (...options: string[]) =>
    succeeds('setpriv', [...AS_NOBODY, bwrap, ...options, ...NOTHING]);
  if (!(await sandbox(...NAMESPACES))) {
    faults.push(
      'bubblewrap cannot create user namespaces for unprivileged users (sysctl kernel.unprivileged_userns_clone=1; ' +
        'in a container, its runtime has to permit them)',
    );
  } else if (!(await sandbox(...NAMESPACES, '--disable-userns'))) {
    faults.push(
      'bubblewrap cannot forbid further user namespaces inside a sandbox (--disable-userns: it needs bubblewrap 0.8 and a ' +
        '/proc/sys/user that the sandbox may write to; in a container, its runtime must not make /proc/sys read-only)',
    );
  }
  const fault = await whyNoFirewall(nft);
  if (fault !== null) faults.push(fault);
  return faults;
}

/** Sample rules, like those for websites. */
async function whyNoFirewall(nft: string): Promise<string | null> {
  const rules = firewallRules({
    ...{ instance: 'setup', uids: { first: 200_000, last: 299_999 }, edgePorts: [80, 443] },
    ...{ allowed: [], nameservers: [] },
  });
  try {
    await runCommand('unshare', ['--net', nft, '-f', '-'], { input: rules });
    return null;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const [reason = ''] = error.stderr.trim().split('\n');
    return `nftables cannot load the firewall of the websites, a table of the family inet (kernel module nf_tables): ${reason}`;
  }
}
