import type { Socket } from 'node:net';

/** Connections that PHP of websites has to the edge. They come from this machine, which may be a trusted proxy, and PHP is none. */
export interface LoopbackConnections {
  /** Remembers a connection until it closes. */
  add(siteId: string, socket: Socket): void;
  /** The website whose PHP is the peer of a connection at the edge; null for all others. */
  siteOf(peer: Pick<Socket, 'remoteAddress' | 'remotePort'>): string | null;
}

export function createLoopbackConnections(): LoopbackConnections {
  const sites = new Map<string, string>();
  const key = (address: string | undefined, port: number | undefined): string =>
    `${address?.replace(/^::ffff:/, '')} ${port}`;
  return {
    add(siteId, socket) {
      const own = key(socket.localAddress, socket.localPort);
      sites.set(own, siteId);
      socket.once('close', () => sites.delete(own));
    },
    siteOf: ({ remoteAddress, remotePort }) =>
      sites.size === 0 ? null : (sites.get(key(remoteAddress, remotePort)) ?? null),
  };
}
