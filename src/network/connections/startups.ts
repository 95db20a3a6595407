import type { Socket } from 'node:net';

/** Limits of unauthenticated clients, like OpenSSH's MaxStartups and PerSourceMaxStartups. */
export interface StartupLimits {
  /** Random refusals begin at this number of clients. */
  start: number;
  /** Percentage refused at `start`. It rises linearly to 100 at `full`. */
  rate: number;
  full: number;
  /** Limit per address block. */
  perBlock: number;
}

const MOST: StartupLimits = { start: 48, rate: 30, full: 128, perBlock: 10 };

/** The limits for a server with a total number of connections. */
export function startupLimits(connections: number): StartupLimits {
  const full = Math.min(MOST.full, Math.max(8, Math.floor(connections / 2)));
  const part = full / MOST.full;
  return {
    start: Math.ceil(MOST.start * part),
    rate: MOST.rate,
    full,
    perBlock: Math.max(2, Math.floor(MOST.perBlock * part)),
  };
}

/** Clients that have not signed in yet. */
export interface Startups {
  /**
   * Admits a client of an address block. Refuses it and returns false over a limit. A null block is a trusted proxy, whose
   * clients are not counted per block.
   */
  begin(socket: Socket, block: string | null): boolean;
  /** Removes a client that has signed in or disconnected. */
  end(socket: Socket): void;
}

export interface StartupsOptions {
  limits: StartupLimits;
  /** A number from 0 up to 1. */
  random: () => number;
  /** Closes a refused connection. */
  refuse(socket: Socket): void;
}

/**
 * Refuses clients at random once many are signing in. Unlike OpenSSH, it refuses the oldest client of the largest block if
 * the new client's block is smaller, so that a few addresses cannot lock out all others.
 */
export function createStartups({ limits, random, refuse }: StartupsOptions): Startups {
  const { start, rate, full, perBlock } = limits;
  /** Address blocks by client, oldest first. */
  const blocks = new Map<Socket, string | null>();

  function chanceOfRefusal(): number {
    if (blocks.size < start) return 0;
    if (blocks.size >= full) return 1;
    return (rate + ((100 - rate) * (blocks.size - start)) / (full - start)) / 100;
  }

  function countByBlock(): Map<string | null, number> {
    const counts = new Map<string | null, number>();
    for (const block of blocks.values()) counts.set(block, (counts.get(block) ?? 0) + 1);
    return counts;
  }

  /** The oldest client of the largest block; undefined if no block has more than `atLeast`. */
  function victim(counts: Map<string | null, number>, atLeast: number): Socket | undefined {
    const [largest] = [...counts]
      .filter(([block, count]) => block !== null && count > atLeast)
      .toSorted(([, a], [, b]) => b - a);
    return largest && [...blocks].find(([, block]) => block === largest[0])?.[0];
  }

  return {
    begin(socket, block) {
      const counts = countByBlock();
      const ofBlock = block === null ? 0 : (counts.get(block) ?? 0);
      let refused = ofBlock >= perBlock ? socket : undefined;
      if (refused === undefined && random() < chanceOfRefusal())
        refused = victim(counts, ofBlock + 1) ?? socket;
      if (refused !== undefined) {
        blocks.delete(refused);
        refuse(refused);
      }
      if (refused === socket) return false;
      blocks.set(socket, block);
      return true;
    },
    end(socket) {
      blocks.delete(socket);
    },
  };
}
