import { join } from 'node:path';
import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import { hostAndPort } from '../../../lib/host-and-port.ts';
import { PermanentHostError } from '../../contract/host.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** Whom the asker runs as: on Debian nobody owns a file, and the socket of the host is this user's alone. */
export const ASKER = { name: 'nobody', uid: 65_534, gid: 65_534 };

export const keysScript = (layout: LinuxLayout): string => join(layout.scripts, 'authorized-keys');
export const sessionScript = (layout: LinuxLayout): string => join(layout.scripts, 'session');
/** Where `session.pl` asks. */
export const sessionsSocket = (layout: LinuxLayout): string => join(layout.runFolder, 'sessions.sock');
export const hostKeyFile = (layout: LinuxLayout): string => join(layout.ssh, 'host_key');
export const configFile = (layout: LinuxLayout): string => join(layout.ssh, 'sshd_config');

/**
 * The configuration of sshd, whole (sshd_config(5)). Keys alone sign in, and which may the host says; every session is led
 * into the sandbox of its install. Nothing is forwarded, and no file or variable of a client's has a say.
 */
export function renderSshdConfig(layout: LinuxLayout, listen: ListenAddress): string {
  const asked = [keysScript(layout), layout.keysSocket, '%u', '%t', '%k'];
  const forced = ['exec', sessionScript(layout), sessionsSocket(layout)];
  const settings: [string, string][] = [
    ['ListenAddress', hostAndPort(listen)],
    ['HostKey', plain(hostKeyFile(layout))],
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

    // `exec`: the sandbox ends when its parent does, which is to be sshd and not a shell that stays behind.
    ['ForceCommand', forced.map(plain).join(' ')],
    ['Subsystem', 'sftp /usr/lib/openssh/sftp-server'],
    ['DisableForwarding', 'yes'],
    ['PermitTunnel', 'no'],
    ['PermitUserEnvironment', 'no'],
    ['PermitUserRC', 'no'],
    ['PrintMotd', 'no'],
    ['PrintLastLog', 'no'],

    ['UseDNS', 'no'],
    // A client with many keys offers one after the other.
    ['MaxAuthTries', '12'],
    ['MaxSessions', '10'],
    // Clients that have not signed in: from 48 on some are refused, from 128 on all; 10 from an address or a /64.
    ['MaxStartups', '48:30:128'],
    ['PerSourceMaxStartups', '10'],
    ['PerSourceNetBlockSize', '32:64'],
    ['LoginGraceTime', '15'],
    // A connection that died is noticed after two minutes.
    ['ClientAliveInterval', '30'],
    ['ClientAliveCountMax', '4'],
  ];
  return settings.map(([name, value]) => `${name} ${value}\n`).join('');
}

/** What means itself wherever it stands, to sshd and to the shell that runs a forced command. */
function plain(path: string): string {
  if (/^%[utk]$|^exec$|^\/[A-Za-z0-9._/-]*$/.test(path)) return path;
  throw new PermanentHostError(
    `SSH cannot be served from ${path}: HOMEPORT_HOST_FOLDER and HOMEPORT_HOST_RUN_FOLDER may have letters, digits, ".", "_" and "-" in them alone`,
  );
}
