import { connect } from 'node:net';
import type { Queries } from '../../database/database.ts';
import { connectableHost } from '../../lib/connectable-host.ts';
import { bareHost } from '../../lib/host-names.ts';
import type { EdgeAddressBook } from '../hosts/edge-address-book.ts';
import type { HostingAddresses } from '../hosts/hosting-addresses.ts';
import { isLocalAddress } from '../hosts/local-address.ts';
import { allHosts, type KnownHost } from '../hosts/store.ts';
import type { EdgePlace } from './check-website.ts';

/** `silent`: no connection can be made. `unknown`: its address is not known. */
export type FoundEdge = EdgePlace | 'silent' | 'unknown';

/** Gives the edge of each host by its id; that of the embedded host by null. */
export type EdgePlaces = (hostId: string | null) => Promise<FoundEdge>;

interface Parts {
  queries: Queries;
  /** The public addresses of the edge of a host. */
  addressBook: Pick<EdgeAddressBook, 'ofHost'>;
  /** Where this process serves websites; null if it does not, or does not know yet. */
  embedded: () => HostingAddresses | null;
  signal: AbortSignal;
}

const LOOPBACK = ['127.0.0.1', '::1'];
const CONNECT_MS = 5_000;

/** Looks for the edges of the hosts, once each, when the first website of a host needs it. */
export function createEdgePlaces({ queries, addressBook, embedded, signal }: Parts): EdgePlaces {
  const found = new Map<string | null, Promise<FoundEdge>>();
  let hosts: Promise<KnownHost[]> | undefined;

  async function find(hostId: string | null): Promise<FoundEdge> {
    if (hostId === null) return findEmbedded();
    hosts ??= allHosts(queries);
    const host = (await hosts).find(({ id }) => id === hostId);
    if (host?.description == null) return 'unknown';
    const { http, https } = host.description.ports;
    const addresses = addressesOf(host, addressBook.ofHost(host));
    return firstReachable(addresses, { http, https });
  }

  async function findEmbedded(): Promise<FoundEdge> {
    const here = embedded();
    if (here === null) return 'unknown';
    const ports = { http: here.edgeHttp.port, https: here.edgeHttps.port };
    return firstReachable([connectableHost(here.edgeHttp.host)], ports);
  }

  async function firstReachable(addresses: string[], ports: EdgePlace['ports']): Promise<FoundEdge> {
    for (const address of addresses) {
      if (await accepts(address, ports.http, signal)) return { address, ports };
    }
    signal.throwIfAborted();
    return 'silent';
  }

  return (hostId) => {
    const known = found.get(hostId) ?? find(hostId);
    found.set(hostId, known);
    return known;
  };
}

/** The addresses at which the edge of a host may answer, best first: the public ones may lie behind a NAT that sends nothing back. */
function addressesOf({ address }: Pick<KnownHost, 'address'>, known: readonly string[]): string[] {
  if (isLocalAddress(address)) return [...LOOPBACK, ...known];
  return [...known, bareHost(new URL(address).hostname)];
}

function accepts(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal, timeout: CONNECT_MS });
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}
