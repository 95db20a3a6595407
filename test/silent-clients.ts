import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A client's bytes to a port, and the beginning of a working server's response. */
export interface Dialogue {
  port: number;
  secure: boolean;
  says: string;
  answer: RegExp;
}

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

/** The public ports, by name. */
export function dialogues(ports: { api: number; edgeHttp: number; edgeHttps: number; ssh: number }) {
  const http = { says: GET, answer: /^HTTP\/1\.1 / };
  return {
    API: { ...http, port: ports.api, secure: true },
    'edge, HTTP': { ...http, port: ports.edgeHttp, secure: false },
    'edge, HTTPS': { ...http, port: ports.edgeHttps, secure: true },
    SFTP: { port: ports.ssh, secure: false, says: '', answer: /^SSH-2\.0-/ },
  } satisfies Record<string, Dialogue>;
}

/**
 * Connects `count` times to a port of 127.0.0.1, in turn from each of these addresses. The clients say only `says`, and
 * keep their side open when the server closes its own.
 */
export async function connectSilently(
  port: number,
  { count, addresses, says = '' }: { count: number; addresses: string[]; says?: string },
): Promise<{ end(): void }> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const localAddress = addresses[i % addresses.length] ?? '127.0.0.1';
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    socket.on('error', () => {});
    socket.resume();
    sockets.push(socket);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {});
    if (says !== '') socket.write(says);
  }
  return {
    end() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The server's first answer to a client at another address; empty if it closes the connection. */
export async function answerTo({ port, secure, says }: Dialogue, localAddress: string): Promise<string> {
  const plain = connect({ port, host: '127.0.0.1', localAddress });
  const socket = secure
    ? connectTls({ socket: plain, servername: 'localhost', rejectUnauthorized: false })
    : plain;
  for (const each of [plain, socket]) each.on('error', () => {});
  if (says !== '') socket.write(says);
  const closed = new Promise<string>((resolve) => plain.once('close', () => resolve('')));
  const answered = new Promise<string>((resolve) =>
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1'))),
  );
  const answer = await Promise.race([answered, closed]);
  socket.destroy();
  plain.destroy();
  return answer;
}

/** The number of open descriptors of a process of this user. Linux only. */
export async function descriptorsOf(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}
