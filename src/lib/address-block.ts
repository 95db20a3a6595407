import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * What limits by address count by: an IPv4 address, or the /64 of an IPv6 one, which is what a single customer of a
 * provider has to choose from (RFC 6177).
 */
export function addressBlock(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  // By far the most, and there is nothing to work out.
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
