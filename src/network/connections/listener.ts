import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { hasCode } from '../../lib/error-code.ts';
import { messageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { type Http2Connections, isHttp2 } from './http2-connections.ts';

/** An address to listen on. Port 0 lets the system choose one. */
export interface ListenAddress {
  host: string;
  port: number;
}

/**
 * Timeouts for idle and slow visitors, in milliseconds. Node checks them every `connectionsCheckingInterval`, so a silent
 * client is closed after 12 s.
 */
export const SERVER_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
};
/** Timeout of a connection without data in either direction. */
export const IDLE_MS = 60_000;

/**
 * Binds a server. Resolves to the bound address with its port. Rejects with an OperatorError that names the setting if the
 * address is unavailable.
 */
export async function listen(
  server: Server,
  { host, port }: ListenAddress,
  setting: string,
): Promise<ListenAddress> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new OperatorError(
      `The hosted sites cannot be served on ${host}:${port}: ${listenFault(cause)} (setting ${setting}).`,
      {
        cause,
      },
    );
  }
  const bound = server.address();
  return { host, port: typeof bound === 'object' && bound !== null ? bound.port : port };
}

/** The reason of a failed `listen`, in words for the operator. */
export function listenFault(cause: unknown): string {
  if (hasCode(cause, 'EADDRINUSE')) return 'another program uses this port; stop it or choose another port';
  if (hasCode(cause, 'EACCES'))
    return 'ports below 1024 need privileges; choose a higher one and forward to it';
  if (hasCode(cause, 'EADDRNOTAVAIL')) return 'this machine has no such address';
  return messageOf(cause);
}

const LOOK_EVERY_MS = 25;

/**
 * Tracks the connections of a server. Returns a function that drains it: it accepts no more connections, waits up to
 * `graceMs` milliseconds for requests in progress, then closes all connections. `http2`: those of its connections that speak HTTP/2.
 */
export function drainable(
  server: Server,
  scheme: 'http' | 'https',
  http2: Http2Connections | null = null,
): (graceMs: number) => Promise<void> {
  const open = new Set<Socket>();
  // Node counts a connection before its first request as busy. Browsers open such connections in advance.
  const unused = new Set<Socket>();
  server.on('connection', (socket: Socket) => keepWhileOpen(open, socket));
  server.on(scheme === 'https' ? 'secureConnection' : 'connection', (socket: Socket | TLSSocket) => {
    if (!isHttp2(socket)) keepWhileOpen(unused, socket);
  });
  server.on('request', ({ socket }) => unused.delete(socket));

  return async (graceMs) => {
    if (!server.listening) return;
    let closed = false;
    const closing = once(server, 'close').then(() => {
      closed = true;
    });
    server.close();
    http2?.close();
    const until = performance.now() + graceMs;
    while (!closed && performance.now() < until) {
      for (const socket of unused) socket.destroy();
      // A busy connection may have become idle since.
      server.closeIdleConnections();
      await Promise.race([closing, sleep(LOOK_EVERY_MS)]);
    }
    for (const socket of open) socket.destroy();
    await closing;
  };
}

function keepWhileOpen(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
}
