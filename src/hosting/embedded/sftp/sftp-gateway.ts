import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { bindServer } from '../../../network/connections/inherited-sockets.ts';
import { listenFault } from '../../../network/connections/listener.ts';
import type { SocketLimiter } from '../../../network/connections/socket-limiter.ts';
import { createStartups, type StartupLimits, startupLimits } from '../../../network/connections/startups.ts';
import type { SshQuestions } from '../../contract/questions.ts';
import type { DiskQuotas } from './disk-quota.ts';
import type { ConnectionLimits } from './ssh-connection.ts';
import { provideHostKey } from './ssh-host-key.ts';
import type { ServedConnection, SshServer } from './ssh-server.ts';

export interface SftpLimits extends ConnectionLimits {
  /** Time for a client to sign in. */
  loginGraceMs: number;
}

const LIMITS: SftpLimits = {
  authAttempts: 12,
  loginGraceMs: 15_000,
  sessions: 8,
  handles: 64,
  idleMs: 30 * MINUTE_MS,
};

export interface SftpGatewayOptions {
  listen: { host: string; port: number };
  /** File of the host key, created at the first start. */
  hostKeyFile: string;
  /** The folder that holds an install's files. */
  filesOf(installId: string): string;
  quotas: DiskQuotas;
  questions: SshQuestions;
  connections: SocketLimiter;
  log: Logger;
  clock: Clock;
  limits?: Partial<SftpLimits>;
  /** Defaults for the number of connections if omitted. */
  startups?: StartupLimits;
  /** A random number from 0 up to 1 for random refusals. Default: `Math.random`. */
  random?: () => number;
}

export interface SftpGateway {
  /** Starts listening and returns the address with its actual port. Errors: {@link OperatorError}. */
  start(): Promise<{ host: string; port: number }>;
  /** Accepts no more connections and ends existing ones within a few seconds. */
  stop(): Promise<void>;
}

/** Time that a stopped gateway waits for its clients to close. */
const STOP_MS = 3_000;

/**
 * Serves install files by SFTP. Customers sign in with the install's name and one of their SSH keys. All other SSH features are off: no
 * shell, commands, forwarding, agent or environment.
 */
export function createSftpGateway(options: SftpGatewayOptions): SftpGateway {
  const { filesOf, quotas, questions, connections: limiter, clock, log, random = Math.random } = options;
  const limits = { ...LIMITS, ...options.limits };
  const connections = new Map<Socket, ServedConnection>();
  const startups = createStartups({
    limits: options.startups ?? startupLimits(limiter.limits.total),
    random,
    refuse: limiter.refuse,
  });
  let server: Server | null = null;
  let sshServer: Promise<SshServer> | null = null;

  /** The SSH library takes 4 MB, so it is loaded for the first connection. */
  function sshServerFor(hostKey: string): Promise<SshServer> {
    sshServer ??= import('./ssh-server.ts').then(({ createSshServer }) => createSshServer(hostKey));
    return sshServer;
  }

  /** Accepts a connection from its first byte, so limits apply before the SSH library sees a version. */
  async function take(socket: Socket, hostKey: string): Promise<void> {
    const address = socket.remoteAddress ?? '';
    if (!startups.begin(socket, limiter.blockOf(address))) return;
    if (!limiter.admit(socket)) {
      startups.end(socket);
      return;
    }
    const grace = setTimeout(() => socket.destroy(), limits.loginGraceMs).unref();
    const connectionLog = log.child({ address, port: socket.remotePort });
    connections.set(socket, { end: () => socket.destroy() });
    socket.setNoDelay(true);
    // Until the SSH library listens; 'close' follows.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(grace);
      connections.delete(socket);
      startups.end(socket);
    });
    const onSignedIn = () => {
      clearTimeout(grace);
      startups.end(socket);
      limiter.busy(socket);
    };
    const ssh = await sshServerFor(hostKey);
    if (socket.destroyed) return;
    ssh.serve(
      { socket, filesOf, quotas, questions, limits, clock, log: connectionLog, onSignedIn },
      (served) => connections.set(socket, served),
    );
  }

  return {
    async start() {
      const hostKey = await provideHostKey(options.hostKeyFile, log);
      server = createServer((socket) => {
        take(socket, hostKey).catch((err: unknown) => {
          log.error({ err }, 'an SSH connection could not be served');
          socket.destroy();
        });
      });
      const address = options.listen;
      try {
        return await bindServer(server, address);
      } catch (cause) {
        server = null;
        throw new OperatorError(
          `SFTP cannot be served on ${address.host}:${address.port}: ${listenFault(cause)} (setting HOMEPORT_SSH_LISTEN).`,
          { cause },
        );
      }
    },

    async stop() {
      if (server === null) return;
      const closed = once(server, 'close');
      server.close();
      server = null;
      for (const connection of connections.values()) connection.end('the server stops');
      const cut = setTimeout(() => {
        for (const socket of connections.keys()) socket.destroy();
      }, STOP_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}
