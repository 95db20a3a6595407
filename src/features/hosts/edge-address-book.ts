import type { Config } from '../../config/config.ts';
import type { Queries } from '../../database/database.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { edgeAddresses } from './edge-addresses.ts';
import { parseIpAddress } from './ip-address.ts';
import { isLocalAddress } from './local-address.ts';
import { isMember, reaches } from './other-edges.ts';
import { allHosts, type KnownHost, servingHostId } from './store.ts';

type Host = Pick<KnownHost, 'address' | 'edge_addresses'>;
type Member = Host & Pick<KnownHost, 'id' | 'description' | 'lost_at'>;

/** Gives the addresses at which websites are reached, for A and AAAA records. Empty if unknown. */
export interface EdgeAddressBook {
  /** For the websites of a host; undefined: of this process, or of installs without a host. */
  ofHost(host: Host | undefined): string[];
  /**
   * Where visitors of a host's websites may arrive: at its own edge, and at those of all hosts that have reached it. The order does not depend
   * on the host, so that a move changes nothing.
   */
  leadingTo(host: Member | undefined, hosts: readonly Member[]): string[];
  ofInstall(queries: Queries, installId: string): Promise<string[]>;
}

export function createEdgeAddressBook(
  config: Pick<Config, 'host' | 'edgeAddresses' | 'edgeHttp' | 'allowPrivateTargets'>,
): EdgeAddressBook {
  const ofThisMachine = edgeAddresses(config);

  function ofHost(host: Host | undefined): string[] {
    if (host === undefined) return ofThisMachine;
    if (host.edge_addresses.length > 0) return host.edge_addresses;
    // Interface addresses of this machine are wrong for another.
    return isLocalAddress(host.address) ? ofThisMachine : config.edgeAddresses;
  }

  function leadingTo(host: Member | undefined, hosts: readonly Member[]): string[] {
    if (host === undefined || !isMember(host)) return ofHost(host);
    const leading = hosts.filter((one) => one.lost_at === null && (one.id === host.id || reaches(one, host)));
    return [...new Set(leading.flatMap(ofHost))];
  }

  return {
    ofHost,
    leadingTo,
    async ofInstall(queries, installId) {
      if (config.host === 'embedded') return ofThisMachine;
      const serving = await servingHostId(queries, installId);
      const hosts = serving === null ? [] : await allHosts(queries);
      return leadingTo(
        hosts.find(({ id }) => id === serving),
        hosts,
      );
    },
  };
}

/** Normalizes the edge addresses of a host; keeps the order and drops duplicates. Throws OperatorError. */
export function parseEdgeAddresses(texts: readonly string[]): string[] {
  return [...new Set(texts.map(parseEdgeAddress))];
}

function parseEdgeAddress(text: string): string {
  const address = parseIpAddress(text);
  if (address !== null) return address;
  throw new OperatorError(
    `An edge address of a host is an IP address, like 203.0.113.7 or 2001:db8::7; it is "${text}".`,
  );
}
