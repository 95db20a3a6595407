import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import ssh2 from 'ssh2';
import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { listenFault } from '../../../network/connections/listener.ts';
import type { SocketLimiter } from '../../../network/connections/socket-limiter.ts';
import { createStartups, type StartupLimits, startupLimits } from '../../../network/connections/startups.ts';
import type { SshQuestions } from '../../contract/host.ts';
import type { DiskQuotas } from './disk-quota.ts';
import { type ConnectionLimits, serveConnection } from './ssh-connection.ts';
import { provideHostKey } from './ssh-host-key.ts';

export interface SftpLimits extends ConnectionLimits {
  /** How long a client has to sign in. */
  loginGraceMs: number;
}

const LIMITS: SftpLimits = {
  authAttempts: 12,
  loginGraceMs: 15_000,
  sessions: 8,
  handles: 64,
  idleMs: 30 * MINUTE_MS,
};

/**
 * Without SHA-1; all known to OpenSSH since 6.5 (2014). ChaCha20 is left out because OpenSSH's client would choose it
 * first, and in this library it carries half as much as AES.
 */
const ALGORITHMS: ssh2.Algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group16-sha512',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
};

export interface SftpGatewayOptions {
  listen: { host: string; port: number };
  /** Where the host key is kept; made at the first start. */
  hostKeyFile: string;
  /** The folder that holds an install's files. */
  filesOf(installId: string): string;
  quotas: DiskQuotas;
  questions: SshQuestions;
  connections: SocketLimiter;
  log: Logger;
  clock: Clock;
  limits?: Partial<SftpLimits>;
  /** Those for the number of connections if left out. */
  startups?: StartupLimits;
  /** A number from 0 up to 1, for the refusals by chance; `Math.random` if left out. */
  random?: () => number;
}

export interface SftpGateway {
  /** Listens; gives the address with the port that it has. Errors: {@link OperatorError}. */
  start(): Promise<{ host: string; port: number }>;
  /** Takes no more connections and ends those that there are, within a few seconds. */
  stop(): Promise<void>;
}

/** How long a stopped gateway waits for its clients to close. */
const STOP_MS = 3_000;

/**
 * Gives customers their files by SFTP: they sign in as the install's name with an SSH key of theirs. Nothing else of SSH
 * is offered: no shell, no commands, no forwarding, no agent, no environment.
 */
export function createSftpGateway(options: SftpGatewayOptions): SftpGateway {
  const { filesOf, quotas, questions, connections: limiter, clock, log, random = Math.random } = options;
  const limits = { ...LIMITS, ...options.limits };
  const connections = new Map<Socket, { end(reason: string): void }>();
  const waiting = new Map<string, (connection: ssh2.Connection) => void>();
  const startups = createStartups({
    limits: options.startups ?? startupLimits(limiter.limits.total),
    random,
    refuse: limiter.refuse,
  });
  let server: Server | null = null;

  /** Takes a connection from its first byte: the limits hold before the SSH library has seen a version. */
  function take(socket: Socket, ssh: ssh2.Server): void {
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
    socket.on('close', () => {
      clearTimeout(grace);
      connections.delete(socket);
      startups.end(socket);
    });

    // The library shows a connection by its peer alone, once that has told its version.
    const peer = peerOf(socket.remoteAddress, socket.remotePort);
    waiting.set(peer, (connection) => {
      waiting.delete(peer);
      const onSignedIn = () => {
        clearTimeout(grace);
        startups.end(socket);
        limiter.busy(socket);
      };
      const common = { socket, filesOf, quotas, questions, limits, clock, log: connectionLog };
      connections.set(socket, serveConnection(connection, { ...common, onSignedIn }));
    });
    socket.on('close', () => waiting.delete(peer));
    ssh.injectSocket(socket);
  }

  return {
    async start() {
      const hostKey = await provideHostKey(options.hostKeyFile, log);
      const ssh = new ssh2.Server({ hostKeys: [hostKey], algorithms: ALGORITHMS, ident: 'Homeport' });
      ssh.on('connection', (connection, { ip, port }) => waiting.get(peerOf(ip, port))?.(connection));
      server = createServer((socket) => take(socket, ssh));
      const { host } = options.listen;
      try {
        server.listen(options.listen);
        await once(server, 'listening');
      } catch (cause) {
        server = null;
        throw new OperatorError(
          `SFTP cannot be served on ${host}:${options.listen.port}: ${listenFault(cause)} (setting HOMEPORT_SSH_LISTEN).`,
          { cause },
        );
      }
      const bound = server.address();
      return { host, port: typeof bound === 'object' && bound !== null ? bound.port : options.listen.port };
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

function peerOf(address: string | undefined, port: number | undefined): string {
  return `${address} ${port}`;
}
