import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { hasCode } from '../../lib/error-code.ts';
import { messageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { type Http2Connections, isHttp2 } from './http2-connections.ts';
import { bindServer, HAND_OVER_LINGER_MS, type ListenAddress } from './inherited-sockets.ts';

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
  address: ListenAddress,
  setting: string,
): Promise<ListenAddress> {
  try {
    return await bindServer(server, address);
  } catch (cause) {
    throw new OperatorError(
      `The hosted sites cannot be served on ${address.host}:${address.port}: ${listenFault(cause)} (setting ${setting}).`,
      { cause },
    );
  }
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
 * `lingerMs`: how long those without a request stay open.
 */
export function drainable(
  server: Server,
  scheme: 'http' | 'https',
  http2: Http2Connections | null = null,
  lingerMs = HAND_OVER_LINGER_MS,
): (graceMs: number) => Promise<void> {
  const open = new Set<Socket>();
  // Node counts a connection before its first request as busy. Browsers open such connections in advance.
  const unused = new Set<Socket>();
  const answers = new Set<ServerResponse>();
  let isDraining = false;
  server.on('connection', (socket: Socket) => keepWhileOpen(open, socket));
  server.on(scheme === 'https' ? 'secureConnection' : 'connection', (socket: Socket | TLSSocket) => {
    if (!isHttp2(socket)) keepWhileOpen(unused, socket);
  });
  server.prependListener('request', ({ socket }, answer) => {
    unused.delete(socket);
    if (isDraining) answer.shouldKeepAlive = false;
    keepWhileOpen(answers, answer);
  });

  return async (graceMs) => {
    if (!server.listening) return;
    isDraining = true;
    let closed = false;
    const closing = once(server, 'close').then(() => {
      closed = true;
    });
    // The method of HTTP servers closes idle connections, too.
    TcpServer.prototype.close.call(server);
    for (const answer of answers) answer.shouldKeepAlive = false;
    http2?.announceClose();
    const begun = performance.now();
    const passed = () => performance.now() - begun;
    while (!closed && passed() < graceMs) {
      if (passed() >= lingerMs) {
        http2?.close();
        for (const socket of unused) socket.destroy();
        // A busy connection may have become idle since.
        server.closeIdleConnections();
      }
      await Promise.race([closing, sleep(LOOK_EVERY_MS)]);
    }
    for (const socket of open) socket.destroy();
    await closing;
    // Ends the timer that looks for slow requests.
    server.close();
    isDraining = false;
  };
}

function keepWhileOpen<Kind extends Socket | ServerResponse>(all: Set<Kind>, one: Kind): void {
  all.add(one);
  one.once('close', () => all.delete(one));
}
