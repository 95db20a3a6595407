import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Where to connect: a port on 127.0.0.1, with TLS if the authority is given. */
export interface RawTarget {
  port: number;
  ca?: string;
}

/** A connection for bytes that no HTTP client would send. */
export interface RawConnection {
  socket: Socket;
  /** Everything received so far. */
  received(): string;
  /** Resolves with everything received once the connection is closed, or after `patienceMs`. */
  end(patienceMs?: number): Promise<string>;
}

export function rawConnection({ port, ca }: RawTarget): RawConnection {
  const socket =
    ca === undefined
      ? connectTcp(port, '127.0.0.1')
      : connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca });
  const chunks: Buffer[] = [];
  const received = () => Buffer.concat(chunks).toString('utf8');
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // The server may also refuse by a reset.
  socket.on('error', () => {});
  return {
    socket,
    received,
    end: (patienceMs = 5_000) =>
      new Promise((resolve) => {
        const finish = () => {
          clearTimeout(timer);
          socket.destroy();
          resolve(received());
        };
        const timer = setTimeout(finish, patienceMs);
        if (socket.closed) finish();
        else socket.once('close', finish);
      }),
  };
}

/** Sends bytes and returns what is received until the server closes the connection, or for `patienceMs`. */
export function exchange(target: RawTarget, bytes: string | Buffer, patienceMs?: number): Promise<string> {
  const connection = rawConnection(target);
  connection.socket.write(bytes);
  return connection.end(patienceMs);
}

/** The statuses of the responses on a connection. Each begins right after the previous body. */
export function statusesIn(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}
