import type { Config } from '../../config/config.ts';
import type { Queries } from '../../database/database.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { edgeAddresses } from './edge-addresses.ts';
import { parseIpAddress } from './ip-address.ts';
import { isLocalAddress } from './local-address.ts';
import { type KnownHost, servingHost } from './store.ts';

type Host = Pick<KnownHost, 'address' | 'edge_addresses'>;

/** Gives the addresses at which websites are reached, for A and AAAA records. Empty if unknown. */
export interface EdgeAddressBook {
  /** For the websites of a host; undefined: of this process, or of installs without a host. */
  ofHost(host: Host | undefined): string[];
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

  return {
    ofHost,
    async ofInstall(queries, installId) {
      return config.host === 'embedded' ? ofThisMachine : ofHost(await servingHost(queries, installId));
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
