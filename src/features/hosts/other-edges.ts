import type { OtherEdge } from '../../hosting/contract/edge-routes.ts';
import { parseIpAddress } from './ip-address.ts';
import { isLocalAddress } from './local-address.ts';
import type { KnownHost } from './store.ts';

/** Finds an address of a host name. Rejects without one. */
export type Lookup = (name: string) => Promise<{ address: string }>;

interface Sources {
  /** The addresses of a host's edge for visitors, best first. */
  ofHost(host: KnownHost): string[];
  lookUp: Lookup;
}

/** Whether the edge of a host exchanges requests with those of others: it has an identity. */
export const isMember = ({ description }: Pick<KnownHost, 'description'>): boolean =>
  (description?.forwarding?.identity ?? null) !== null;

/** Whether the edge of a host has reached that of another. Before, no one is sent to it for a website of the other: a firewall may be in between. */
export const reaches = (
  { description }: Pick<KnownHost, 'description'>,
  { id }: Pick<KnownHost, 'id'>,
): boolean => description?.forwarding?.reaches?.includes(id) ?? false;

/** The edges that a host can forward to: those of all other hosts that have an identity and an address. */
export async function otherEdges(
  host: Pick<KnownHost, 'id'>,
  hosts: readonly KnownHost[],
  sources: Sources,
): Promise<OtherEdge[]> {
  const edges = await Promise.all(
    hosts.filter(({ id }) => id !== host.id).map((other) => edgeOf(other, sources)),
  );
  return edges.filter((edge) => edge !== null).sort((a, b) => (a.hostId < b.hostId ? -1 : 1));
}

/**
 * Where the edge of a host accepts requests from others: the single address that it listens on, else the one where the control plane reaches
 * the host, else its first address for visitors.
 */
async function edgeOf(host: KnownHost, { ofHost, lookUp }: Sources): Promise<OtherEdge | null> {
  const { id, address, description } = host;
  const forwarding = description?.forwarding;
  if (forwarding === undefined || forwarding.identity === null) return null;
  const place = forwarding.host ?? (await addressOf(address, lookUp)) ?? ofHost(host)[0];
  return place === undefined ? null : { hostId: id, host: place, port: forwarding.port };
}

/** The IP address in the address of a host; null for one at a socket. Rejects if its name has no address. */
async function addressOf(address: string, lookUp: Lookup): Promise<string | null> {
  if (isLocalAddress(address)) return null;
  const name = new URL(address).hostname.replace(/^\[(.*)\]$/, '$1');
  return parseIpAddress(name) ?? parseIpAddress((await lookUp(name)).address);
}

/** Gives the last address of a name while it cannot be looked up, so that a failure of DNS withdraws no route. */
export function rememberingLookup(lookUp: Lookup): Lookup {
  const known = new Map<string, { address: string }>();
  return async (name) => {
    try {
      const found = await lookUp(name);
      known.set(name, found);
      return found;
    } catch (error) {
      const last = known.get(name);
      if (last === undefined) throw error;
      return last;
    }
  };
}
