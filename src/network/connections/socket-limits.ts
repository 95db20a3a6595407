/** Limits of open connections to a server. */
export interface SocketLimits {
  total: number;
  /** Per address block: an IPv4 address, or the /64 of an IPv6 address. */
  perBlock: number;
}

/** The servers of a process with public clients. */
export const SERVERS = ['api', 'edge', 'ssh'] as const;
export type ServerName = (typeof SERVERS)[number];

/** The share of all connections for each server, and its maximum. */
const SHARES: Record<ServerName, { share: number; most: number; mostPerBlock: number }> = {
  api: { share: 1 / 4, most: 8_192, mostPerBlock: 512 },
  edge: { share: 1 / 2, most: 8_192, mostPerBlock: 1_024 },
  ssh: { share: 1 / 4, most: 256, mostPerBlock: 64 },
};

/**
 * Divides the descriptor limit of a process among its servers. Half stays free for other uses: the database, files that are
 * served or used by SFTP, backups, connections to other machines.
 */
export function socketLimits(descriptors: number): Record<ServerName, SocketLimits> {
  const limitsOf = (server: ServerName): SocketLimits => {
    const { share, most, mostPerBlock } = SHARES[server];
    const total = Math.min(most, Math.floor((descriptors / 2) * share));
    return { total, perBlock: Math.min(mostPerBlock, Math.ceil(total / 4)) };
  };
  return { api: limitsOf('api'), edge: limitsOf('edge'), ssh: limitsOf('ssh') };
}
