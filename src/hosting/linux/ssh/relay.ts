import { createHash, randomUUID } from 'node:crypto';
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../../lib/run-command.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { SshRelay } from '../../contract/questions.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { relayScript } from './sshd-config.ts';

/** A key of one session, and the files that ssh(1) needs to pass the session on. */
export interface PassFiles {
  folder: string;
  fingerprintSha256: string;
}

/** Name of the other host in the file of known hosts. */
const ALIAS = 'homeport';
/** The control plane accepts the key for a shorter time. */
const KEPT_MS = 60_000;

const passesFolder = ({ runFolder }: Pick<LinuxLayout, 'runFolder'>): string => join(runFolder, 'ssh-passes');

/** Removes the keys of former sessions. */
export async function emptyPasses(layout: LinuxLayout): Promise<void> {
  await rm(passesFolder(layout), { recursive: true, force: true });
  await mkdir(passesFolder(layout), { mode: 0o711 });
}

/** Ends a program with its parent: what a user left must not go on at the other host, and count there. */
const WITH_PARENT = ['/usr/bin/setpriv', '--pdeathsig', 'KILL'];

/** Makes a key that only the user id reads. It is deleted after a minute: ssh(1) has read it by then. */
export async function makePass(layout: LinuxLayout, uid: number): Promise<PassFiles> {
  const folder = join(passesFolder(layout), randomUUID());
  await mkdir(folder, { mode: 0o700 });
  const key = join(folder, 'key');
  await runCommand('/usr/bin/ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
  const [, blob = ''] = (await readFile(`${key}.pub`, 'utf8')).split(' ');
  for (const path of [key, `${key}.pub`, folder]) await chown(path, uid, uid);
  setTimeout(() => void rm(folder, { recursive: true, force: true }).catch(() => {}), KEPT_MS).unref();
  const fingerprintSha256 = createHash('sha256').update(Buffer.from(blob.trim(), 'base64')).digest('base64');
  return { folder, fingerprintSha256: fingerprintSha256.replace(/=+$/, '') };
}

/**
 * The command that `session.pl` runs, followed by the user's command: ssh(1) to the host of the website. It forwards nothing, knows no
 * escape character, and reads no configuration.
 */
export async function relayTo(
  layout: LinuxLayout,
  { install: { name }, host, port, hostKeys }: SshRelay,
  { folder }: Pick<PassFiles, 'folder'>,
): Promise<string[]> {
  if (hostKeys.length === 0) throw new PermanentHostError('the SSH host keys of the other host are unknown');
  const known = join(folder, 'known_hosts');
  await writeFile(known, hostKeys.map((key) => `${ALIAS} ${key}\n`).join(''), { mode: 0o644 });
  const settings: Record<string, string> = {
    BatchMode: 'yes',
    CheckHostIP: 'no',
    ClearAllForwardings: 'yes',
    ConnectTimeout: '15',
    ControlMaster: 'no',
    ControlPath: 'none',
    EscapeChar: 'none',
    ForwardAgent: 'no',
    ForwardX11: 'no',
    GlobalKnownHostsFile: 'none',
    HostKeyAlias: ALIAS,
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    IdentityFile: join(folder, 'key'),
    LogLevel: 'QUIET',
    PermitLocalCommand: 'no',
    Port: String(port),
    PreferredAuthentications: 'publickey',
    ServerAliveCountMax: '4',
    ServerAliveInterval: '30',
    StrictHostKeyChecking: 'yes',
    UpdateHostKeys: 'no',
    User: name,
    UserKnownHostsFile: known,
  };
  const options = Object.entries(settings).flatMap(([option, value]) => ['-o', `${option}=${value}`]);
  const ssh = [...WITH_PARENT, '/usr/bin/ssh', '-F', 'none', ...options];
  return [...WITH_PARENT, '/usr/bin/perl', relayScript(layout), ...ssh, '--', host];
}
