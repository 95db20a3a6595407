import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer, isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import type { Clock } from '../../../lib/clock.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { Cgroups } from '../daemons/cgroups.ts';
import { ensureFolder, folderState } from '../isolation/owned-folder.ts';
import { readSystemFile, writeSystemFile } from '../isolation/system-file.ts';
import type { DaemonSpec, Daemons, ResourceLimits } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { createQuestionSocket, type QuestionLimits } from '../machine/question-socket.ts';
import { requireSshBanner } from './banner.ts';
import { type HostKey, keepSharedKey, provideHostKeys } from './host-key.ts';
import { createLogIns, type HostedLogin, type SshRelays } from './logins.ts';
import { emptyPasses } from './relay.ts';
import { createSessions, type SessionQuestions } from './sessions.ts';
import {
  ASKER,
  configFile,
  hostKeyFile,
  keysScript,
  relayScript,
  renderSshdConfig,
  sessionScript,
  sessionsSocket,
  sharedHostKeyFile,
} from './sshd-config.ts';

export type { HostedLogin } from './logins.ts';

/** SSH and SFTP by OpenSSH. A user signs in as an install, by a key that the control plane knows, and is in the install's sandbox. */
export interface SshServer {
  /** Starts serving. Leaves alone what is already right, so it also serves as repair. */
  start(): Promise<void>;
  /** Admits no more logins and ends every session. */
  stop(): Promise<void>;
  port(): number;
  /** The single address of the machine that it listens on; null: all of them. */
  listensAt(): string | null;
  /** Public keys that identify this host, each `type base64`, the shown one first; empty before the start. */
  hostKeys(): string[];
  /** The private key that is shown. */
  readHostKey(): Promise<string>;
  /** Takes the private key of the fleet, see `SshFleet`. `replaces`: no user knows the own key. */
  shareHostKey(key: string, replaces: boolean): Promise<void>;
  /** Ends all sessions of a removed install; resolves when their processes are gone. */
  endSessions(installId: string): Promise<void>;
  /** What is wrong, one sentence; null if all is well. */
  check(): Promise<string | null>;
}

export interface SshServerOptions {
  layout: LinuxLayout;
  daemons: Daemons;
  cgroups: Pick<Cgroups, 'addProcess'>;
  /** Port 0 lets the system choose one. */
  listen: ListenAddress;
  questions: SessionQuestions;
  /** Installs of other hosts. */
  relays: SshRelays;
  /** The install of that name, or null. */
  installOf(name: string): HostedLogin | null;
  log: Logger;
  clock: Clock;
  /** Milliseconds between checks whether users still have access. */
  recheckMs?: number;
  /** How long sessions may stay while the control plane does not answer: long enough for an update of it. */
  unansweredMs?: number;
  /** Concurrent connections per install. */
  mostConnections?: number;
}

interface SystemFile {
  path: string;
  text: string;
  mode: number;
}

const DAEMON = 'sshd';
/**
 * Limits of sshd for all connections together; programs in sessions count for their installs. A connection takes two processes
 * and 1.8 MB. Encryption may use half of the machine's processors.
 */
const LIMITS: ResourceLimits = {
  memoryMb: 1_536,
  cpuPercent: 50 * availableParallelism(),
  processes: 1_024,
};
/** Compiled into Debian's sshd. */
const PRIVILEGE_SEPARATION_FOLDER = '/run/sshd';

/** Copied to a place that only root can change, which sshd requires. */
const SCRIPTS: [source: string, target: (layout: LinuxLayout) => string][] = [
  ['authorized-keys.pl', keysScript],
  ['session.pl', sessionScript],
  ['relay.pl', relayScript],
];

/**
 * The longest question contains an RSA key of 16,384 bits, about 2,800 characters. As many at once as sshd's limit of connections
 * that have not signed in, and more.
 */
export const SSH_QUESTIONS: QuestionLimits = { characters: 20_000, atOnce: 128 };

export function createSshServer(options: SshServerOptions): SshServer {
  const { layout, daemons, cgroups, questions, relays, installOf, log, clock } = options;
  const { recheckMs = 10_000, unansweredMs = 120_000, mostConnections = 20 } = options;
  const listen = { ...options.listen };
  const keyFiles = { own: hostKeyFile(layout), shared: sharedHostKeyFile(layout) };
  let hostKeys: HostKey[] = [];
  let openssh = '';
  const sessions = createSessions({
    folder: join(layout.runFolder, 'ssh'),
    questions,
    clock,
    log,
    recheckMs,
    unansweredMs,
    mostConnections,
    uidOf: async ({ name, isRelayed }) => (isRelayed ? relays.uid() : (installOf(name)?.sandbox.uid ?? null)),
  });
  const logIns = createLogIns({ layout, cgroups, questions, relays, installOf, sessions, pidOfSshd, log });
  const sockets = {
    keys: createQuestionSocket({
      path: layout.keysSocket,
      access: { uid: ASKER.uid, gid: ASKER.gid, mode: 0o600 },
      answer: logIns.answerKey,
      purpose: 'SSH login',
      limits: SSH_QUESTIONS,
      log,
    }),
    // Any user may be that of an install; sandboxes do not show the socket.
    sessions: createQuestionSocket({
      path: sessionsSocket(layout),
      access: { uid: 0, gid: 0, mode: 0o666 },
      answer: logIns.answerSession,
      purpose: 'SSH login',
      limits: SSH_QUESTIONS,
      log,
    }),
  };

  async function pidOfSshd(): Promise<number | null> {
    return (await daemons.list()).find(({ name }) => name === DAEMON)?.pid ?? null;
  }

  /** Files for sshd, all owned by root. */
  async function filesToBe(): Promise<SystemFile[]> {
    const scripts = SCRIPTS.map(async ([source, target]) => ({
      path: target(layout),
      text: await readFile(join(import.meta.dirname, 'perl', source), 'utf8'),
      mode: 0o755,
    }));
    const config = { path: configFile(layout), text: configuration(), mode: 0o600 };
    return [...(await Promise.all(scripts)), config];
  }

  function configuration(): string {
    const files = hostKeys.length === 0 ? undefined : hostKeys.map(({ file }) => file);
    return renderSshdConfig(layout, listen, files, openssh);
  }

  async function writeFiles(): Promise<void> {
    await ensureFolder(layout.scripts, { uid: 0, gid: 0, mode: 0o755 });
    await ensureFolder(layout.ssh, { uid: 0, gid: 0, mode: 0o700 });
    hostKeys = await provideHostKeys(keyFiles, log);
    openssh = (await runCommand('/usr/bin/ssh', ['-V'])).stderr;
    for (const file of await filesToBe()) {
      if (!(await isInPlace(file))) await writeSystemFile(file.path, file.text, { mode: file.mode });
    }
  }

  function spec(): DaemonSpec {
    return {
      name: DAEMON,
      description: 'SSH and SFTP',
      command: ['/usr/sbin/sshd', '-D', '-e', '-f', configFile(layout)],
      // sshd reads configuration and key only at start, so a change restarts it.
      environment: {
        HOMEPORT_CONFIGURATION: digestOf(
          [configuration(), ...hostKeys.map(({ publicKey }) => publicKey)].join(''),
        ),
      },
      limits: LIMITS,
      ready: () => requireSshBanner(listen),
    };
  }

  async function fault(): Promise<string | null> {
    for (const file of await filesToBe()) {
      if (!(await isInPlace(file))) return `${file.path} has the wrong content`;
    }
    for (const socket of Object.values(sockets)) {
      if (!(await socket.isOpen())) return `${socket.path} is missing: no one can sign in by SSH`;
    }
    if ((await pidOfSshd()) === null) return 'OpenSSH is not running';
    await requireSshBanner(listen);
    return null;
  }

  async function start(): Promise<void> {
    // Before our sshd runs, another server on the port could be mistaken for it.
    if ((await pidOfSshd()) === null) listen.port = await freePort(listen);
    await mkdir(PRIVILEGE_SEPARATION_FOLDER, { recursive: true, mode: 0o755 });
    await writeFiles();
    // Not at a repair, when sessions begin.
    if (!(await sockets.sessions.isOpen())) await emptyPasses(layout);
    await sessions.start();
    for (const socket of Object.values(sockets)) await socket.open();
    await daemons.ensure(spec());
  }

  return {
    start,

    async stop() {
      for (const socket of Object.values(sockets)) await socket.close();
      await sessions.stop();
    },

    port: () => listen.port,
    listensAt: () =>
      isIP(listen.host) === 0 || ['0.0.0.0', '::'].includes(listen.host) ? null : listen.host,
    hostKeys: () => hostKeys.map(({ publicKey }) => publicKey),
    readHostKey: () => readFile(keyFiles.own, 'utf8'),
    async shareHostKey(key, replaces) {
      if (hostKeys.length === 0) throw new Error('SSH has not started yet');
      await keepSharedKey(key, keyFiles, replaces);
      await start();
    },

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

/** The port, or a free one for port 0. Rejects with an {@link OperatorError} if it is not available. */
async function freePort({ host, port }: ListenAddress): Promise<number> {
  const server = createServer();
  try {
    // sshd listens on "::" for IPv6 only.
    server.listen({ host, port, ipv6Only: true });
    await once(server, 'listening');
  } catch (cause) {
    const reason = hasCode(cause, 'EADDRINUSE') ? 'another program listens there' : String(cause);
    throw new OperatorError(
      `Cannot serve SSH on ${host}:${port}: ${reason}. Choose another address in HOMEPORT_SSH_LISTEN.`,
      { cause },
    );
  }
  const bound = server.address();
  server.close();
  await once(server, 'close');
  return typeof bound === 'object' && bound !== null ? bound.port : port;
}
