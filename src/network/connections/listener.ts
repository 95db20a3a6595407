import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from '../../lib/error-code.ts';
import { messageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/** An address to listen on, or that is listened on. Port 0 lets the system choose one. */
export interface ListenAddress {
  host: string;
  port: number;
}

/**
 * Limits that free the edge of visitors who send or take nothing, in milliseconds. Node looks for late requests every
 * `connectionsCheckingInterval`, so a client that says nothing is gone after 12 s.
 */
export const SERVER_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
};
/** A connection on which nothing moves, in either direction. */
export const IDLE_MS = 60_000;

/**
 * Binds a server. Gives the address with the port that it has now. Rejects with a sentence that names the setting if
 * the address cannot be had.
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

/** Why an address cannot be listened on, in words for whoever chose it. */
export function listenFault(cause: unknown): string {
  if (hasCode(cause, 'EADDRINUSE')) return 'another program uses this port; stop it or choose another port';
  if (hasCode(cause, 'EACCES'))
    return 'ports below 1024 need privileges; choose a higher one and forward to it';
  if (hasCode(cause, 'EADDRNOTAVAIL')) return 'this machine has no such address';
  return messageOf(cause);
}

const LOOK_EVERY_MS = 25;

/**
 * Follows the connections of a server from now on, and gives the function that ends it: it takes no more connections,
 * lets requests under way end within `graceMs` milliseconds, and cuts what is left.
 */
export function drainable(server: Server, scheme: 'http' | 'https'): (graceMs: number) => Promise<void> {
  const open = new Set<Socket>();
  // Node counts a connection without a first request (browsers open them ahead) as busy.
  const unused = new Set<Socket>();
  server.on('connection', (socket: Socket) => keepWhileOpen(open, socket));
  server.on(scheme === 'https' ? 'secureConnection' : 'connection', (socket: Socket) =>
    keepWhileOpen(unused, socket),
  );
  server.on('request', ({ socket }) => unused.delete(socket));

  return async (graceMs) => {
    if (!server.listening) return;
    let closed = false;
    const closing = once(server, 'close').then(() => {
      closed = true;
    });
    server.close();
    const until = performance.now() + graceMs;
    while (!closed && performance.now() < until) {
      for (const socket of unused) socket.destroy();
      // One that was busy a moment ago may wait for its next request now.
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
