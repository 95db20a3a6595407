import type { Socket } from 'node:net';

/** How many clients may be signing in at the same time, as by OpenSSH's MaxStartups and PerSourceMaxStartups. */
export interface StartupLimits {
  /** From so many on, some are refused. */
  start: number;
  /** The share of those that are refused at `start`, in percent; it rises linearly to 100 at `full`. */
  rate: number;
  full: number;
  /** From one address block. */
  perBlock: number;
}

const MOST: StartupLimits = { start: 48, rate: 30, full: 128, perBlock: 10 };

/** Those of a server that has so many connections in all. */
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

/** Clients that have not signed in. */
export interface Startups {
  /**
   * Takes a client from an address block; false, after `refuse`, if it is turned away. Null: a trusted proxy, whose
   * clients are not counted together.
   */
  begin(socket: Socket, block: string | null): boolean;
  /** The client has signed in, or left. */
  end(socket: Socket): void;
}

export interface StartupsOptions {
  limits: StartupLimits;
  /** A number from 0 up to 1. */
  random: () => number;
  /** Closes a connection for lack of room. */
  refuse(socket: Socket): void;
}

/**
 * Refuses clients at random once many are signing in. OpenSSH refuses the new client. Here one of the largest block goes
 * if the new client's block is smaller, so that a few addresses do not keep all others out.
 */
export function createStartups({ limits, random, refuse }: StartupsOptions): Startups {
  const { start, rate, full, perBlock } = limits;
  /** The one that came first is first. */
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
