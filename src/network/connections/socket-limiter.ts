import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { addressBlock } from '../../lib/address-block.ts';
import type { Clock } from '../../lib/clock.ts';
import { MINUTE_MS } from '../../lib/durations.ts';
import type { ServerName, SocketLimits } from './socket-limits.ts';

/** Limits the connections of one server, so that clients cannot exhaust the descriptors of the process. */
export interface SocketLimiter {
  readonly limits: SocketLimits;
  /** Open connections, and connections closed by the limits since the start. */
  readonly counts: { open: number; refused: number };
  /**
   * Counts a new connection until it closes. If its address block is at its limit, destroys it and returns false. If the
   * server is full, closes the connection that has waited longest, or refuses the new one if none is waiting.
   */
  admit(socket: Socket): boolean;
  /** Links a TLS connection to its admitted socket, so that the calls below accept either. */
  secured(tls: TLSSocket): void;
  /** Marks a connection as in use, after a complete request or a sign-in. It may have several requests in progress. */
  busy(socket: Socket): void;
  /** Ends one call of `busy`. After the last one, the connection waits. A new connection waits, too. */
  waiting(socket: Socket): void;
  /** The block of an address; null for a trusted proxy, which carries connections of many visitors. */
  blockOf(address: string): string | null;
  /** Destroys a connection for another reason than the limits, and counts it as refused. */
  refuse(socket: Socket): void;
}

export interface SocketLimiterOptions {
  server: ServerName;
  limits: SocketLimits;
  /** Whether an address is a trusted proxy. Its connections are limited only by the total. */
  isTrusted(address: string): boolean;
  log: Logger;
  clock: Clock;
}

export function createSocketLimiter(options: SocketLimiterOptions): SocketLimiter {
  const { server, limits, isTrusted, log, clock } = options;
  const open = new Set<Socket>();
  const perBlock = new Map<string, number>();
  /** Connections without a request, longest waiting first. */
  const idle = new Set<Socket>();
  const trusted = new WeakSet<Socket>();
  /** Requests in progress. */
  const requests = new WeakMap<Socket, number>();
  /** Admitted sockets by their endpoints, to find the socket of a TLS connection. */
  const byEnds = new Map<string, Socket>();
  const carriers = new WeakMap<Socket, Socket>();
  let refused = 0;
  let unreported = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function refuse(socket: Socket): void {
    const address = socket.remoteAddress;
    socket.destroy();
    refused += 1;
    unreported += 1;
    const now = clock.now().getTime();
    if (now - reportedAt < MINUTE_MS) return;
    log.warn(
      { server, address, refused: unreported, open: open.size, limits },
      'connections refused: limit reached',
    );
    reportedAt = now;
    unreported = 0;
  }

  function forget(socket: Socket, block: string | null): void {
    open.delete(socket);
    idle.delete(socket);
    if (block === null) return;
    const left = (perBlock.get(block) ?? 1) - 1;
    if (left === 0) perBlock.delete(block);
    else perBlock.set(block, left);
  }

  const blockOf = (address: string): string | null => (isTrusted(address) ? null : addressBlock(address));
  const carrierOf = (socket: Socket): Socket => carriers.get(socket) ?? socket;

  return {
    limits,
    get counts() {
      return { open: open.size, refused };
    },
    admit(socket) {
      const address = socket.remoteAddress;
      // The client has already disconnected.
      if (address === undefined) {
        socket.destroy();
        return false;
      }
      const block = blockOf(address);
      const ofBlock = block === null ? 0 : (perBlock.get(block) ?? 0);
      const [longest] = idle;
      const isFull = open.size >= limits.total;
      if ((block !== null && ofBlock >= limits.perBlock) || (isFull && longest === undefined)) {
        refuse(socket);
        return false;
      }
      if (isFull && longest !== undefined) {
        // Its close event comes later; until then it must not be chosen again.
        open.delete(longest);
        idle.delete(longest);
        refuse(longest);
      }
      open.add(socket);
      if (block === null) trusted.add(socket);
      else {
        perBlock.set(block, ofBlock + 1);
        idle.add(socket);
      }
      const ends = endsOf(socket);
      byEnds.set(ends, socket);
      socket.once('close', () => {
        byEnds.delete(ends);
        forget(socket, block);
      });
      return true;
    },
    secured(tls) {
      const carrier = byEnds.get(endsOf(tls));
      if (carrier !== undefined) carriers.set(tls, carrier);
    },
    busy(socket) {
      const carrier = carrierOf(socket);
      requests.set(carrier, (requests.get(carrier) ?? 0) + 1);
      idle.delete(carrier);
    },
    waiting(socket) {
      const carrier = carrierOf(socket);
      const left = (requests.get(carrier) ?? 1) - 1;
      requests.set(carrier, left);
      if (left > 0 || !open.has(carrier) || trusted.has(carrier)) return;
      idle.delete(carrier);
      idle.add(carrier);
    },
    blockOf,
    refuse,
  };
}

/** Identifies a connection in this process, from its TCP or its TLS socket. */
function endsOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`;
}
