import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { AddressRange } from '../../config/settings/setting-values.ts';

/**
 * Decides whether outgoing connections may go to an IP address. Refuses everything that is not a plain IP address,
 * including names and addresses with a zone (`fe80::1%eth0`).
 */
export type AddressPolicy = (address: string) => boolean;

type IPv4 = ipaddr.IPv4;
type IPv6 = ipaddr.IPv6;

/**
 * Allows public unicast addresses and the `allowed` ranges. An IPv6 address with an embedded IPv4 address is judged by
 * the IPv4 address, because the packets end there. The `allowed` ranges are matched against both.
 */
export function createAddressPolicy(allowed: AddressRange[]): AddressPolicy {
  const isAllowed = (address: IPv4 | IPv6): boolean =>
    allowed.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
  const passesInside = (address: IPv4): boolean => isAllowed(address) || isPublicIPv4(address);

  return (text) => {
    // ipaddr.js also parses forms like `0x7f.1`, which connect() would look up as names.
    if (isIP(text) === 0 || text.includes('%')) return false;
    const address = ipaddr.parse(text);
    if (isAllowed(address)) return true;
    if (address instanceof ipaddr.IPv4) return isPublicIPv4(address);
    const inside = embedded(address);
    if (inside === null) return isPublicIPv6(address);
    return inside.length > 0 && inside.every(passesInside);
  };
}

/** Azure's metadata service, which has a public address. Other clouds use private or link-local ones. */
const AZURE_WIRE_SERVER = '168.63.129.16';

function isPublicIPv4(address: IPv4): boolean {
  return address.range() === 'unicast' && address.toString() !== AZURE_WIRE_SERVER;
}

/** All IPv6 addresses that IANA has allocated for global unicast (RFC 4291 section 2.4). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

function isPublicIPv6(address: IPv6): boolean {
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast';
}

/** 0.0.0.0/8 is not a destination (RFC 1122 section 3.2.1.3). */
function goesNowhere(address: IPv4): boolean {
  return address.range() === 'unspecified';
}

type Reading = (bytes: number[]) => IPv4;

const at =
  (...positions: [number, number, number, number]): Reading =>
  (bytes) =>
    new ipaddr.IPv4(positions.map((position) => bytes[position] ?? 0));

const LAST_FOUR = at(12, 13, 14, 15);
/** Teredo inverts the client's address (RFC 4380 section 4). */
const TEREDO_CLIENT: Reading = (bytes) =>
  LAST_FOUR(bytes.map((byte, position) => (position < 12 ? byte : byte ^ 0xff)));

interface Embedding {
  range: AddressRange;
  /** All ways to read the embedded address; each result is checked. */
  readings: Reading[];
  /** Only one reading is right. Readings that consist of padding zeros are ignored. */
  padded?: true;
}

/** IPv6 formats with embedded IPv4 addresses. */
const EMBEDDINGS: Embedding[] = [
  // IPv4-mapped, RFC 4291 section 2.5.5.2.
  { range: ipaddr.parseCIDR('::ffff:0:0/96'), readings: [LAST_FOUR] },
  // IPv4-compatible, section 2.5.5.1. Covers `::` and `::1`, which are refused as 0.0.0.0/8.
  { range: ipaddr.parseCIDR('::/96'), readings: [LAST_FOUR] },
  // IPv4-translated, RFC 7915.
  { range: ipaddr.parseCIDR('::ffff:0:0:0/96'), readings: [LAST_FOUR] },
  // NAT64, RFC 6052 section 2.1.
  { range: ipaddr.parseCIDR('64:ff9b::/96'), readings: [LAST_FOUR] },
  // Local NAT64 (RFC 8215). Its prefix length is unknown, so all positions of RFC 6052 section 2.2 count.
  {
    range: ipaddr.parseCIDR('64:ff9b:1::/48'),
    readings: [at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12), LAST_FOUR],
    padded: true,
  },
  // 6to4, RFC 3056.
  { range: ipaddr.parseCIDR('2002::/16'), readings: [at(2, 3, 4, 5)] },
  // Teredo: server and client, RFC 4380 section 4.
  { range: ipaddr.parseCIDR('2001::/32'), readings: [at(4, 5, 6, 7), TEREDO_CLIENT] },
];

function embedded(address: IPv6): IPv4[] | null {
  const form = EMBEDDINGS.find(({ range }) => address.match(range));
  if (form === undefined) return null;
  const bytes = address.toByteArray();
  const addresses = form.readings.map((reading) => reading(bytes));
  return form.padded ? addresses.filter((v4) => !goesNowhere(v4)) : addresses;
}
