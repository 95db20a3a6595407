import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { limitConcurrency } from '../../../lib/concurrency.ts';
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
/** Sign-ins at one host at the same time. Its sshd takes ten from one address (`PerSourceMaxStartups`), and drops the others. */
const MOST_SIGN_INS = 8;
const LOOK_EVERY_MS = 50;
/** 20 seconds: `ConnectTimeout` is shorter. */
const MOST_LOOKS = 400;

const passesFolder = ({ runFolder }: Pick<LinuxLayout, 'runFolder'>): string => join(runFolder, 'ssh-passes');

/** Removes the keys of former sessions. */
export async function emptyPasses(layout: LinuxLayout): Promise<void> {
  await rm(passesFolder(layout), { recursive: true, force: true });
  await mkdir(passesFolder(layout), { mode: 0o711 });
}

/** Ends a program with its parent: what a user left must not go on at the other host, and count there. */
const WITH_PARENT = ['/usr/bin/setpriv', '--pdeathsig', 'KILL'];

/** Makes a key that only the user id reads. It is deleted once it was used, and after a minute. */
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

/** Lets sessions sign in at other hosts, a few at a time. */
export interface SignIns {
  /** Resolves when a session may sign in at the host. The next one follows when its key is used, or when the process ends that has it. */
  turn(host: string, pass: Pick<PassFiles, 'folder'>, pid: number): Promise<void>;
}

export function createSignIns(): SignIns {
  const queues = new Map<string, ReturnType<typeof limitConcurrency>>();

  async function untilSignedIn(pass: Pick<PassFiles, 'folder'>, pid: number): Promise<void> {
    for (let look = 0; look < MOST_LOOKS; look += 1) {
      if (!existsSync(keyOf(pass)) || !existsSync(`/proc/${pid}`)) return;
      await sleep(LOOK_EVERY_MS);
    }
  }

  return {
    turn: (host, pass, pid) =>
      new Promise((resolve) => {
        const queue = queues.get(host) ?? limitConcurrency(MOST_SIGN_INS);
        queues.set(host, queue);
        void queue(() => {
          resolve();
          return untilSignedIn(pass, pid);
        });
      }),
  };
}

const keyOf = ({ folder }: Pick<PassFiles, 'folder'>): string => join(folder, 'key');

/**
 * The command that `session.pl` runs, followed by the user's command: ssh(1) to the host of the website. It forwards nothing, knows no
 * escape character, and reads no configuration.
 */
export async function relayTo(
  layout: LinuxLayout,
  { install: { name }, host, port, hostKeys }: SshRelay,
  pass: Pick<PassFiles, 'folder'>,
): Promise<string[]> {
  if (hostKeys.length === 0) throw new PermanentHostError('the SSH host keys of the other host are unknown');
  const known = join(pass.folder, 'known_hosts');
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
    IdentityFile: keyOf(pass),
    LogLevel: 'QUIET',
    // Runs after the sign-in.
    LocalCommand: `/bin/rm -f ${keyOf(pass)}`,
    PermitLocalCommand: 'yes',
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
