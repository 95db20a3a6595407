import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The subject of rate limits by address: an IPv4 address, or a /64 of IPv6, the least that a provider assigns a customer (RFC 6177). */
export function addressBlock(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  // The common case needs no parsing.
  if (isIPv4(address)) return address;
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? `${parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : parsed.toString();
}
