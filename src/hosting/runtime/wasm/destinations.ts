import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { AddressPolicy } from '../../../network/probe/address-policy.ts';

/** Decides whether a website may connect to an address and port. */
export type Destinations = (address: string, port: number) => boolean;

interface Options {
  isPublic: AddressPolicy;
  /** Of the machine, without those that other machines cannot reach. */
  ownAddresses?: () => string[];
  /** Ports at which visitors reach the websites. */
  edgePorts: readonly number[];
}

/** Mail goes through the platform, which limits and logs it. Submission with a password (465, 587) stays open. */
const SMTP = 25;

/**
 * Allows what the firewall of a Linux host allows: public addresses without port 25, and of this machine the edge alone. Its other ports may
 * be closed to the outside, but not to a connection from here.
 */
export function createDestinations({
  isPublic,
  ownAddresses = interfaceAddresses,
  edgePorts,
}: Options): Destinations {
  return (address, port) => {
    if (port === SMTP || !isPublic(address)) return false;
    if (edgePorts.includes(port)) return true;
    const wanted = normalized(address);
    return !ownAddresses().some((own) => normalized(own) === wanted);
  };
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address));
}

/** One spelling for each address; IPv4 inside IPv6 as IPv4. */
function normalized(address: string): string {
  return ipaddr.process(address.replace(/%.*$/, '')).toNormalizedString();
}
