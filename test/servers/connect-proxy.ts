import { createServer, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';

/** An HTTP proxy on 127.0.0.1 that connects every request to this machine, whatever its host is. */
export interface ConnectProxy {
  url: string;
  /** The targets it was asked for, such as `example.com:443`, and the logins. */
  asked: { target: string; login: string | null }[];
  close(): void;
}

/** `status`: what it answers in place of a connection. */
export async function startConnectProxy(status?: number): Promise<ConnectProxy> {
  const asked: ConnectProxy['asked'] = [];
  const sockets = new Set<Socket>();
  const server = createServer((asking, response) => {
    // The absolute form, for plain HTTP (RFC 9112 section 3.2.2).
    const { host, port, pathname, search } = new URL(asking.url ?? '');
    asked.push({ target: host, login: loginOf(asking) });
    const { method, headers } = asking;
    const target = request(
      { host: '127.0.0.1', port, method, path: pathname + search, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    target.on('error', () => response.destroy());
    asking.pipe(target);
  });
  server.on('connect', (asking, client: Socket) => {
    asked.push({ target: asking.url ?? '', login: loginOf(asking) });
    if (status !== undefined) return client.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
    const port = Number(/:(\d+)$/.exec(asking.url ?? '')?.[1]);
    const target = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    asked,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function loginOf({ headers }: IncomingMessage): string | null {
  const login = /^Basic (.*)$/.exec(headers['proxy-authorization'] ?? '')?.[1];
  return login === undefined ? null : Buffer.from(login, 'base64').toString();
}
