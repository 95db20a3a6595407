/** How many connections a server has at the same time. */
export interface SocketLimits {
  total: number;
  /** From one address block: an IPv4 address, or the /64 of an IPv6 one. */
  perBlock: number;
}

/** The servers of a process that strangers connect to. */
export const SERVERS = ['api', 'edge', 'ssh'] as const;
export type ServerName = (typeof SERVERS)[number];

/** The part of all connections that each server gets, and the most that it makes use of. */
const SHARES: Record<ServerName, { share: number; most: number; mostPerBlock: number }> = {
  api: { share: 1 / 4, most: 4_096, mostPerBlock: 512 },
  edge: { share: 1 / 2, most: 8_192, mostPerBlock: 1_024 },
  ssh: { share: 1 / 4, most: 256, mostPerBlock: 64 },
};

/**
 * Divides the descriptors that a process may have open. Half stay free for the service's own files: the database, files
 * on their way to visitors and in SFTP sessions, backups, connections to other machines.
 */
export function socketLimits(descriptors: number): Record<ServerName, SocketLimits> {
  const limitsOf = (server: ServerName): SocketLimits => {
    const { share, most, mostPerBlock } = SHARES[server];
    const total = Math.min(most, Math.floor((descriptors / 2) * share));
    return { total, perBlock: Math.min(mostPerBlock, Math.ceil(total / 4)) };
  };
  return { api: limitsOf('api'), edge: limitsOf('edge'), ssh: limitsOf('ssh') };
}
