import type { Socket } from 'node:net';

/** Connections from which something is expected. */
export interface WaitingRoom {
  /** From now on it is waited for; one that is in already begins anew. */
  enter(socket: Socket): void;
  /** What was expected has come. */
  leave(socket: Socket): void;
}

/**
 * Keeps connections that are waited for few and short: one is closed after `withinMs`, and where there are `most`
 * already the one that has waited longest makes room. So nobody keeps others out by connecting and saying nothing: whoever
 * says at once what is expected has left before his turn comes.
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
