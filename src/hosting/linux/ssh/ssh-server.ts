import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import type { Clock } from '../../../lib/clock.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { SshQuestions } from '../../contract/host.ts';
import type { Cgroups } from '../daemons/cgroups.ts';
import { ensureFolder, folderState } from '../isolation/owned-folder.ts';
import { readSystemFile, writeSystemFile } from '../isolation/system-file.ts';
import type { DaemonSpec, Daemons, ResourceLimits } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { requireSshBanner } from './banner.ts';
import { provideHostKey } from './host-key.ts';
import { createLogIns, type HostedLogin } from './log-ins.ts';
import { createQuestionSocket } from './question-socket.ts';
import { createSessions } from './sessions.ts';
import {
  ASKER,
  configFile,
  hostKeyFile,
  keysScript,
  renderSshdConfig,
  sessionScript,
  sessionsSocket,
} from './sshd-config.ts';

export type { HostedLogin } from './log-ins.ts';

/** SSH and SFTP by OpenSSH: who signs in as an install, with a key that the control plane knows, is in the install's sandbox. */
export interface SshServer {
  /** Serves; what is in order already is left as it is, so that it mends what is not. */
  start(): Promise<void>;
  /** Lets nobody in any more and ends every session. */
  stop(): Promise<void>;
  port(): number;
  /** Public keys by which clients know it, each `type base64`; none before it was started. */
  hostKeys(): string[];
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
  /** How many connections an install may have at the same time. */
  mostConnections?: number;
}

interface SystemFile {
  path: string;
  text: string;
  mode: number;
}

const DAEMON = 'sshd';
/**
 * What sshd takes for all connections together; what runs in their sessions counts for the installs. A connection is two
 * processes and 1.8 MB. Half of the machine's processors encrypt, at most.
 */
const LIMITS: ResourceLimits = {
  memoryMb: 1_536,
  cpuPercent: 50 * availableParallelism(),
  processes: 1_024,
};
/** Compiled into Debian's sshd. */
const PRIVILEGE_SEPARATION_FOLDER = '/run/sshd';

/** Copied to where nobody but root can change them: sshd insists on it. */
const SCRIPTS: [source: string, target: (layout: LinuxLayout) => string][] = [
  ['authorized-keys.pl', keysScript],
  ['session.pl', sessionScript],
];

export function createSshServer(options: SshServerOptions): SshServer {
  const { layout, daemons, cgroups, questions, installOf, log, clock } = options;
  const { recheckMs = 10_000, unansweredMs = 120_000, mostConnections = 20 } = options;
  const listen = { ...options.listen };
  let hostKeys: string[] = [];
  const sessions = createSessions({
    folder: join(layout.runFolder, 'ssh'),
    questions,
    clock,
    log,
    recheckMs,
    unansweredMs,
    mostConnections,
    uidOf: (name) => installOf(name)?.sandbox.uid ?? null,
  });
  const logIns = createLogIns({ layout, cgroups, questions, installOf, sessions, pidOfSshd, log });
  const sockets = {
    keys: createQuestionSocket({
      path: layout.keysSocket,
      access: { uid: ASKER.uid, gid: ASKER.gid, mode: 0o600 },
      answer: logIns.answerKey,
      log,
    }),
    // Any user may be that of an install; no install sees the socket from within its sandbox.
    sessions: createQuestionSocket({
      path: sessionsSocket(layout),
      access: { uid: 0, gid: 0, mode: 0o666 },
      answer: logIns.answerSession,
      log,
    }),
  };

  async function pidOfSshd(): Promise<number | null> {
    return (await daemons.list()).find(({ name }) => name === DAEMON)?.pid ?? null;
  }

  /** What has to stand on the disk for sshd, root's all of it. */
  async function filesToBe(): Promise<SystemFile[]> {
    const scripts = SCRIPTS.map(async ([source, target]) => ({
      path: target(layout),
      text: await readFile(join(import.meta.dirname, 'perl', source), 'utf8'),
      mode: 0o755,
    }));
    const config = { path: configFile(layout), text: renderSshdConfig(layout, listen), mode: 0o600 };
    return [...(await Promise.all(scripts)), config];
  }

  async function writeFiles(): Promise<void> {
    await ensureFolder(layout.scripts, { uid: 0, gid: 0, mode: 0o755 });
    await ensureFolder(layout.ssh, { uid: 0, gid: 0, mode: 0o700 });
    hostKeys = [await provideHostKey(hostKeyFile(layout), log)];
    for (const file of await filesToBe()) {
      if (!(await isInPlace(file))) await writeSystemFile(file.path, file.text, { mode: file.mode });
    }
  }

  function spec(): DaemonSpec {
    return {
      name: DAEMON,
      description: 'SSH and SFTP',
      command: ['/usr/sbin/sshd', '-D', '-e', '-f', configFile(layout)],
      // sshd reads its configuration and its key once: another one has it started again.
      environment: {
        HOMEPORT_CONFIGURATION: digestOf([renderSshdConfig(layout, listen), ...hostKeys].join('')),
      },
      limits: LIMITS,
      ready: () => requireSshBanner(listen),
    };
  }

  async function fault(): Promise<string | null> {
    for (const file of await filesToBe()) {
      if (!(await isInPlace(file))) return `${file.path} is not as it should be`;
    }
    for (const socket of Object.values(sockets)) {
      if (!(await socket.isOpen())) return `${socket.path} is gone: nobody can sign in by SSH`;
    }
    if ((await pidOfSshd()) === null) return 'OpenSSH does not run';
    await requireSshBanner(listen);
    return null;
  }

  return {
    async start() {
      // While ours does not run, what else answers there would be taken for it.
      if ((await pidOfSshd()) === null) listen.port = await freePort(listen);
      await mkdir(PRIVILEGE_SEPARATION_FOLDER, { recursive: true, mode: 0o755 });
      await writeFiles();
      await sessions.start();
      for (const socket of Object.values(sockets)) await socket.open();
      await daemons.ensure(spec());
    },

    async stop() {
      for (const socket of Object.values(sockets)) await socket.close();
      await sessions.stop();
    },

    port: () => listen.port,
    hostKeys: () => hostKeys,

    endSessions: sessions.endOf,

    check: () => fault().catch((error: unknown) => messageOf(error)),
  };
}

async function isInPlace({ path, text, mode }: SystemFile): Promise<boolean> {
  const present = await folderState(path);
  return present?.uid === 0 && present.mode === mode && (await readSystemFile(path)) === text;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The port, or a free one for port 0. Rejects with an {@link OperatorError} if it cannot be listened on. */
async function freePort({ host, port }: ListenAddress): Promise<number> {
  const server = createServer();
  try {
    // sshd listens at "::" for IPv6 alone.
    server.listen({ host, port, ipv6Only: true });
    await once(server, 'listening');
  } catch (cause) {
    const reason = hasCode(cause, 'EADDRINUSE') ? 'something else listens there' : String(cause);
    throw new OperatorError(
      `SSH cannot be served on ${host}:${port}: ${reason}. Choose another address in HOMEPORT_SSH_LISTEN.`,
      { cause },
    );
  }
  const bound = server.address();
  server.close();
  await once(server, 'close');
  return typeof bound === 'object' && bound !== null ? bound.port : port;
}
