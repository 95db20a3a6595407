import type { Socket } from 'node:net';

/** Connections that must complete a step, such as a handshake, in time. */
export interface WaitingRoom {
  /** Starts the time limit of a connection, or restarts it. */
  enter(socket: Socket): void;
  /** The connection completed the step. */
  leave(socket: Socket): void;
}

/**
 * Limits connections in the room: closes each after `withinMs`, and the oldest one if `most` are already waiting. So silent clients
 * cannot lock others out: a client that completes the step quickly leaves before it is the oldest.
 */
export function createWaitingRoom({ most, withinMs }: { most: number; withinMs: number }): WaitingRoom {
  /** In the order in which they came. */
  const waiting = new Map<Socket, NodeJS.Timeout>();
  const met = new WeakSet<Socket>();

  function leave(socket: Socket): void {
    clearTimeout(waiting.get(socket));
    waiting.delete(socket);
  }

  function turnOut(socket: Socket): void {
    leave(socket);
    socket.destroy();
  }

  return {
    enter(socket) {
      if (socket.destroyed) return;
      leave(socket);
      const [longest] = waiting.keys();
      if (longest !== undefined && waiting.size >= most) turnOut(longest);
      waiting.set(
        socket,
        setTimeout(() => turnOut(socket), withinMs),
      );
      if (met.has(socket)) return;
      met.add(socket);
      socket.once('close', () => leave(socket));
    },
    leave,
  };
}
