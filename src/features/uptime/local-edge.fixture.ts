import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server } from 'node:net';
import { createSelfSigned } from '../../lib/certificates/self-signed-certificate.ts';

/** How one website answers; `hangs`: never. */
export type Answering =
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'hangs'
  | 'cuts';

/** A web server for all websites, on HTTP and HTTPS, whose answers tests choose by host name. */
export interface LocalEdge {
  ports: { http: number; https: number };
  answers: Map<string, Answering>;
  /** Each request: method, scheme, host and path, and whether only the cache may answer. */
  asked: string[];
  close(): void;
}

export async function startLocalEdge(certified: {
  names: string[];
  notBefore: Date;
  days: number;
}): Promise<LocalEdge> {
  const answers = new Map<string, Answering>();
  const asked: string[] = [];
  const { chain, key } = await createSelfSigned(certified);
  const answer = (scheme: string) => (request: IncomingMessage, response: ServerResponse) => {
    const host = request.headers.host ?? '';
    const isCached = request.headers['cache-control'] === 'only-if-cached';
    asked.push(`${request.method} ${scheme}://${host}${request.url}${isCached ? ' cached' : ''}`);
    const chosen = answers.get(`${host}${request.url}`) ?? answers.get(host) ?? { status: 200 };
    if (chosen === 'hangs') return;
    if (chosen === 'cuts') return request.socket.destroy();
    const status = isCached && chosen.status === 200 ? 504 : chosen.status;
    response.writeHead(status, { 'content-type': 'text/html', ...chosen.headers });
    response.end(request.method === 'HEAD' ? undefined : (chosen.body ?? 'A page'));
  };
  const servers = [
    createHttpServer(answer('http')),
    createHttpsServer({ cert: chain, key }, answer('https')),
  ] as const;
  const [http, https] = await Promise.all(servers.map(listening));
  return {
    ports: { http: http ?? 0, https: https ?? 0 },
    answers,
    asked,
    close() {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
