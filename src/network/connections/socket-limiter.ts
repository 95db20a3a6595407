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

/** An admitted connection. */
interface Admitted {
  readonly socket: Socket;
  /** The connections of a trusted proxy are not closed to make room. */
  readonly isTrusted: boolean;
  /** Requests in progress. */
  requests: number;
}

export function createSocketLimiter(options: SocketLimiterOptions): SocketLimiter {
  const { server, limits, isTrusted, log, clock } = options;
  const open = new Set<Socket>();
  const perBlock = new Map<string, number>();
  /** Connections without a request, longest waiting first. */
  const idle = new Set<Socket>();
  /** By TCP socket, and by the TLS connection on it. */
  const admitted = new WeakMap<Socket, Admitted>();
  /** By endpoints, to find the TCP socket of a TLS connection. */
  const byEnds = new Map<string, Admitted>();
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
      const connection: Admitted = { socket, isTrusted: block === null, requests: 0 };
      admitted.set(socket, connection);
      if (block !== null) {
        perBlock.set(block, ofBlock + 1);
        idle.add(socket);
      }
      const ends = endsOf(socket);
      byEnds.set(ends, connection);
      socket.once('close', () => {
        byEnds.delete(ends);
        forget(socket, block);
      });
      return true;
    },
    secured(tls) {
      const connection = byEnds.get(endsOf(tls));
      if (connection !== undefined) admitted.set(tls, connection);
    },
    busy(socket) {
      const connection = admitted.get(socket);
      if (connection === undefined) return;
      connection.requests++;
      idle.delete(connection.socket);
    },
    waiting(socket) {
      const connection = admitted.get(socket);
      if (connection === undefined) return;
      connection.requests = Math.max(0, connection.requests - 1);
      if (connection.requests > 0 || connection.isTrusted || !open.has(connection.socket)) return;
      idle.delete(connection.socket);
      idle.add(connection.socket);
    },
    blockOf,
    refuse,
  };
}

/** Identifies a connection in this process, from its TCP or its TLS socket. */
function endsOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`;
}
