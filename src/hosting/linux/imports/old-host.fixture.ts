import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../../test/servers/free-port.ts';

/** The former host of a website: an SSH server of OpenSSH on 127.0.0.1, into which one key signs in as root. */
export interface OldHost {
  port: number;
  /** `SHA256:…` of its host key. */
  hostKey: string;
  privateKey: string;
  /** A folder for the website. */
  folder: string;
  /** Makes a program that its shells find first. */
  program(name: string, text: string): void;
  stop(): Promise<void>;
}

/** Starts the server with keys of its own. */
export async function startOldHost(): Promise<OldHost> {
  const own = mkdtempSync(join(tmpdir(), 'old-host-'));
  const programs = join(own, 'programs');
  const folder = join(own, "web's site");
  mkdirSync(programs);
  mkdirSync(folder);
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  for (const name of ['host', 'user']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(own, name)]);
  }
  const port = await freePort();
  const settings = `ListenAddress 127.0.0.1
Port ${port}
HostKey ${join(own, 'host')}
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
AuthorizedKeysFile ${join(own, 'user.pub')}
SetEnv PATH=${programs}:/usr/bin:/bin
`;
  writeFileSync(join(own, 'sshd_config'), settings);
  const server = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(own, 'sshd_config')], { stdio: 'ignore' });
  await untilItListens(server, port);
  const [, hostKey = ''] = execFileSync('ssh-keygen', ['-l', '-f', join(own, 'host')], {
    encoding: 'utf8',
  }).split(' ');
  return {
    port,
    hostKey,
    privateKey: readFileSync(join(own, 'user'), 'utf8'),
    folder,
    program: (name, text) => writeFileSync(join(programs, name), text, { mode: 0o755 }),
    async stop() {
      const gone = new Promise((resolve) => server.once('close', resolve));
      server.kill();
      await gone;
      rmSync(own, { recursive: true });
    },
  };
}

async function untilItListens(server: ChildProcess, port: number): Promise<void> {
  while (server.exitCode === null) {
    const listens = await new Promise<boolean>((resolve) => {
      const socket = createConnection({ host: '127.0.0.1', port })
        .on('connect', () => resolve(true))
        .on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (listens) return;
    await sleep(20);
  }
  throw new Error('sshd has ended');
}
