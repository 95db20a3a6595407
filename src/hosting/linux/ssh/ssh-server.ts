import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../clock.ts';
import type { ListenAddress } from '../../../setting-values.ts';
import type { InstallRef, SshQuestions } from '../../host.ts';
import type { DaemonSpec, Daemons } from '../daemon.ts';
import type { Cgroups } from '../daemons/cgroups.ts';
import { ensureFolder } from '../isolation/owned-folder.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import { readSystemFile, writeSystemFile } from '../isolation/system-file.ts';
import type { LinuxLayout } from '../layout.ts';
import { requireSshBanner } from './banner.ts';
import { entrancesFolder, removeEntrances, writeEntrances } from './entrances.ts';
import { provideHostKey } from './host-key.ts';
import { type KeyQuestion, keyLine } from './key-question.ts';
import { createKeysSocket } from './keys-socket.ts';
import { processAt, userOf } from './processes.ts';
import { createSessions } from './sessions.ts';
import {
  ASKER,
  configFile,
  hostKeyFile,
  keysScript,
  renderSshdConfig,
  sessionScript,
} from './sshd-config.ts';

/** An install that can be signed in to. */
export interface HostedLogin {
  install: InstallRef;
  sandbox: SandboxedInstall;
  /** Whose limits hold for its sessions. */
  cgroupName: string;
}

/** SSH and SFTP by OpenSSH: who signs in as an install, with a key that the control plane knows, is in the install's sandbox. */
export interface SshServer {
  /** Serves; what is in order already is left as it is, so that it mends what is not. */
  start(): Promise<void>;
  /** Lets nobody in any more and ends every session. */
  stop(): Promise<void>;
  port(): number;
  /** Ends all sessions of an install that is taken away; resolves when their processes are gone. */
  endSessions(installId: string): Promise<void>;
  /** What is not as it should be, one sentence; null if all is well. */
  check(): Promise<string | null>;
}

export interface SshServerOptions {
  layout: LinuxLayout;
  daemons: Daemons;
  cgroups: Pick<Cgroups, 'addProcess'>;
  /** Port 0 lets the system choose one. */
  listen: ListenAddress;
  questions: SshQuestions;
  /** The install of that name, or null. */
  installOf(name: string): HostedLogin | null;
  log: Logger;
  clock: Clock;
  /** How often it is asked whether who is signed in may still be, in milliseconds. */
  recheckMs?: number;
  /** For how long they may stay while the control plane does not answer: as long as it takes to update it. */
  unansweredMs?: number;
}

const DAEMON = 'sshd';
/** Compiled into Debian's sshd. */
const PRIVILEGE_SEPARATION_FOLDER = '/run/sshd';

/** Copied to where nobody but root can change them: sshd insists on it. */
const SCRIPTS: [source: string, target: (layout: LinuxLayout) => string][] = [
  ['authorized-keys.pl', keysScript],
  ['session.pl', sessionScript],
];

export function createSshServer(options: SshServerOptions): SshServer {
  const { layout, daemons, cgroups, questions, installOf, log, clock } = options;
  const { recheckMs = 10_000, unansweredMs = 120_000 } = options;
  const listen = { ...options.listen };
  const sessions = createSessions({
    folder: join(layout.runFolder, 'ssh'),
    questions,
    clock,
    log,
    recheckMs,
    unansweredMs,
  });
  const socket = createKeysSocket({ path: layout.keysSocket, asker: ASKER, answer, log });

  /** Whether the key may sign in as the install, and then the line that lets it in. */
  async function answer(question: KeyQuestion): Promise<string | null> {
    const { user, fingerprintSha256, monitor } = question;
    const who = { install: user, fingerprint: fingerprintSha256 };
    const hosted = installOf(user);
    const login = hosted && (await questions.sshLogin(user, fingerprintSha256));
    if (!hosted || login?.install.id !== hosted.install.id) {
      log.info(who, 'an SSH key that may not enter was offered');
      return null;
    }
    const connection = await connectionOf(monitor);
    if (connection === null) {
      log.error(
        { ...who, pid: monitor },
        'a question for an SSH key names no connection of sshd and is refused',
      );
      return null;
    }
    await writeEntrances(layout, hosted.sandbox);
    await cgroups.addProcess(hosted.cgroupName, monitor);
    await sessions.admit({
      ...connection,
      name: user,
      fingerprintSha256,
      installId: hosted.install.id,
      userId: login.userId,
    });
    // It may have been taken away since it was looked for.
    if (installOf(user)?.install.id !== hosted.install.id) {
      await endSessions(hosted.install.id);
      return null;
    }
    log.info({ ...who, user: login.userId }, 'an SSH key that may enter was offered');
    return keyLine(question);
  }

  async function endSessions(installId: string): Promise<void> {
    await removeEntrances(layout, installId);
    await sessions.endOf(installId);
  }

  /** The process, if it is one of root's that our sshd began; what else the asker might name is not touched. */
  async function connectionOf(pid: number): Promise<{ pid: number; startTime: number } | null> {
    const [found, uid, sshd] = await Promise.all([processAt(pid), userOf(pid), pidOfSshd()]);
    if (found === null || uid !== 0 || sshd === null || found.parent !== sshd) return null;
    return { pid, startTime: found.startTime };
  }

  async function pidOfSshd(): Promise<number | null> {
    return (await daemons.list()).find(({ name }) => name === DAEMON)?.pid ?? null;
  }

  async function writeFiles(): Promise<void> {
    const root = { uid: 0, gid: 0, mode: 0o711 };
    for (const folder of [layout.scripts, layout.ssh, entrancesFolder(layout)])
      await ensureFolder(folder, root);
    for (const [source, target] of SCRIPTS) {
      await writeIfOther(
        target(layout),
        await readFile(join(import.meta.dirname, 'perl', source), 'utf8'),
        0o755,
      );
    }
    await provideHostKey(hostKeyFile(layout), log);
    await writeIfOther(configFile(layout), renderSshdConfig(layout, listen), 0o600);
  }

  function spec(): DaemonSpec {
    return {
      name: DAEMON,
      description: 'SSH and SFTP',
      command: ['/usr/sbin/sshd', '-D', '-e', '-f', configFile(layout)],
      // sshd reads its configuration once: another one has it started again.
      environment: { HOMEPORT_CONFIGURATION: digestOf(renderSshdConfig(layout, listen)) },
      ready: () => requireSshBanner(listen),
    };
  }

  async function fault(): Promise<string | null> {
    if ((await readSystemFile(configFile(layout))) !== renderSshdConfig(layout, listen)) {
      return `${configFile(layout)} is not as it should be`;
    }
    for (const [source, target] of SCRIPTS) {
      const wanted = await readFile(join(import.meta.dirname, 'perl', source), 'utf8');
      if ((await readSystemFile(target(layout))) !== wanted)
        return `${target(layout)} is not as it should be`;
    }
    if (!(await socket.isOpen())) return `${layout.keysSocket} is gone: nobody can sign in by SSH`;
    if ((await pidOfSshd()) === null) return 'OpenSSH does not run';
    await requireSshBanner(listen);
    return null;
  }

  return {
    async start() {
      if (listen.port === 0) listen.port = await freePort(listen.host);
      await mkdir(PRIVILEGE_SEPARATION_FOLDER, { recursive: true, mode: 0o755 });
      await writeFiles();
      await sessions.start();
      await socket.open();
      await daemons.ensure(spec());
    },

    async stop() {
      await socket.close();
      await sessions.stop();
    },

    port: () => listen.port,

    endSessions,

    check: () => fault().catch((error: unknown) => (error instanceof Error ? error.message : String(error))),
  };
}

async function writeIfOther(path: string, text: string, mode: number): Promise<void> {
  if ((await readSystemFile(path)) !== text) await writeSystemFile(path, text, { mode });
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function freePort(host: string): Promise<number> {
  const server = createServer();
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address === 'object' && address !== null) return address.port;
  throw new Error('the system gave no port');
}
