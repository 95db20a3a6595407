import { join } from 'node:path';
import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import { hostAndPort } from '../../../lib/host-and-port.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** User of the script: on Debian it owns no files, and only it can use the host's socket. */
export const ASKER = { name: 'nobody', uid: 65_534, gid: 65_534 };

export const keysScript = (layout: LinuxLayout): string => join(layout.scripts, 'authorized-keys');
export const sessionScript = (layout: LinuxLayout): string => join(layout.scripts, 'session');
export const relayScript = (layout: LinuxLayout): string => join(layout.scripts, 'relay');
/** Socket that `session.pl` asks. */
export const sessionsSocket = (layout: LinuxLayout): string => join(layout.runFolder, 'sessions.sock');
export const hostKeyFile = (layout: LinuxLayout): string => join(layout.ssh, 'host_key');
/** The key of the fleet, while this host shows another one. */
export const sharedHostKeyFile = (layout: LinuxLayout): string => join(layout.ssh, 'shared_host_key');
export const configFile = (layout: LinuxLayout): string => join(layout.ssh, 'sshd_config');

/**
 * The complete configuration of sshd (sshd_config(5)). Users sign in by keys that the host approves, and every session runs in
 * the sandbox of its install. Nothing is forwarded, and files and variables of clients have no effect. `hostKeys`: files of private keys.
 * Of those of one type, sshd shows the first, and names all to clients that have signed in. `openssh`: what ssh(1) says of its version.
 */
export function renderSshdConfig(
  layout: LinuxLayout,
  listen: ListenAddress,
  hostKeys: readonly string[] = [hostKeyFile(layout)],
  openssh = '',
): string {
  const asked = [keysScript(layout), layout.keysSocket, '%u', '%t', '%k'];
  const forced = ['exec', sessionScript(layout), sessionsSocket(layout)];
  const settings: [string, string][] = [
    ['ListenAddress', hostAndPort(listen)],
    ...hostKeys.map((file): [string, string] => ['HostKey', plain(file)]),
    ['PidFile', 'none'],

    ['AuthenticationMethods', 'publickey'],
    ['PubkeyAuthentication', 'yes'],
    ['PasswordAuthentication', 'no'],
    ['KbdInteractiveAuthentication', 'no'],
    ['HostbasedAuthentication', 'no'],
    ['PermitRootLogin', 'no'],
    ['UsePAM', 'no'],
    ['AuthorizedKeysFile', 'none'],
    ['AuthorizedKeysCommand', asked.map(plain).join(' ')],
    ['AuthorizedKeysCommandUser', ASKER.name],

    // `exec`: the sandbox ends with its parent, which must be sshd and not a remaining shell.
    ['ForceCommand', forced.map(plain).join(' ')],
    ['Subsystem', 'sftp /usr/lib/openssh/sftp-server'],
    ['DisableForwarding', 'yes'],
    ['PermitTunnel', 'no'],
    ['PermitUserEnvironment', 'no'],
    ['PermitUserRC', 'no'],
    ['PrintMotd', 'no'],
    ['PrintLastLog', 'no'],

    ['UseDNS', 'no'],
    // A client with many keys offers them one after the other.
    ['MaxAuthTries', '12'],
    ['MaxSessions', '10'],
    // Connections that have not signed in: some are refused from 48 on, all from 128 on; 10 per address or /64.
    ['MaxStartups', '48:30:128'],
    ['PerSourceMaxStartups', '10'],
    ['PerSourceNetBlockSize', '32:64'],
    // Many users come from one address: that of another host which passes them on.
    ...(punishesAddresses(openssh) ? ([['PerSourcePenalties', 'no']] satisfies [string, string][]) : []),
    ['LoginGraceTime', '15'],
    // A dead connection is noticed after two minutes.
    ['ClientAliveInterval', '30'],
    ['ClientAliveCountMax', '4'],
  ];
  return settings.map(([name, value]) => `${name} ${value}\n`).join('');
}

/** Whether sshd refuses addresses for a while after failed sign-ins. It has done so since 9.8; earlier ones do not know the setting and would not start. */
function punishesAddresses(openssh: string): boolean {
  const [, major = 0, minor = 0] = /^OpenSSH_(\d+)\.(\d+)/.exec(openssh)?.map(Number) ?? [];
  return major > 9 || (major === 9 && minor >= 8);
}

/** Characters without a special meaning for sshd and for the shell that runs a forced command. */
function plain(path: string): string {
  if (/^%[utk]$|^exec$|^\/[A-Za-z0-9._/-]*$/.test(path)) return path;
  throw new PermanentHostError(
    `Cannot serve SSH from ${path}: HOMEPORT_HOST_FOLDER and HOMEPORT_HOST_RUN_FOLDER may contain only letters, digits, ".", "_" and "-"`,
  );
}
