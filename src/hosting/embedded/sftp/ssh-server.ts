import type { Socket } from 'node:net';
import ssh2 from 'ssh2';
import { type ConnectionOptions, serveConnection } from './ssh-connection.ts';

/**
 * Without SHA-1; all known to OpenSSH since 6.5 (2014). ChaCha20 is left out because OpenSSH's client
 * prefers it, and its throughput in this library is half of AES's.
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

/** A connection after the SSH version exchange. */
export interface ServedConnection {
  end(reason: string): void;
}

export interface SshServer {
  /** Speaks SSH on a socket. Calls `onServed` after the version exchange. */
  serve(options: ConnectionOptions, onServed: (served: ServedConnection) => void): void;
}

/** Creates the SSH server of the SFTP gateway. It does not listen: the gateway passes its sockets. */
export function createSshServer(hostKey: string): SshServer {
  // The library exposes a connection only by its peer, after the version exchange.
  const waiting = new Map<string, (connection: ssh2.Connection) => void>();
  const ssh = new ssh2.Server({ hostKeys: [hostKey], algorithms: ALGORITHMS, ident: 'Homeport' });
  ssh.on('connection', (connection, { ip, port }) => waiting.get(peerOf(ip, port))?.(connection));

  return {
    serve(options, onServed) {
      const { socket } = options;
      const peer = peerOf(socket.remoteAddress, socket.remotePort);
      waiting.set(peer, (connection) => {
        waiting.delete(peer);
        onServed(serveConnection(connection, options));
      });
      socket.on('close', () => waiting.delete(peer));
      ssh.injectSocket(socket);
    },
  };
}

function peerOf(address: Socket['remoteAddress'], port: Socket['remotePort']): string {
  return `${address} ${port}`;
}
