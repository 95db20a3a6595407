import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { AddressRange } from '../../config/settings/setting-values.ts';

/**
 * Whether connections to the outside may go to an IP address. What is no plain IP address is refused, names and
 * addresses with a zone (`fe80::1%eth0`) included.
 */
export type AddressPolicy = (address: string) => boolean;

type IPv4 = ipaddr.IPv4;
type IPv6 = ipaddr.IPv6;

/**
 * Public unicast, and what is in one of the `allowed` ranges. IPv6 forms that carry an IPv4 address inside are judged by
 * it, as that is where the packets end; `allowed` is matched against both.
 */
export function createAddressPolicy(allowed: AddressRange[]): AddressPolicy {
  const isAllowed = (address: IPv4 | IPv6): boolean =>
    allowed.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
  const passesInside = (address: IPv4): boolean => isAllowed(address) || isPublicIPv4(address);

  return (text) => {
    // ipaddr.js reads `0x7f.1` and its like too, which connect() would look up as names.
    if (isIP(text) === 0 || text.includes('%')) return false;
    const address = ipaddr.parse(text);
    if (isAllowed(address)) return true;
    if (address instanceof ipaddr.IPv4) return isPublicIPv4(address);
    const inside = embedded(address);
    if (inside === null) return isPublicIPv6(address);
    return inside.length > 0 && inside.every(passesInside);
  };
}

/** Azure's metadata and agent service, which has a public address (the others have private or link-local ones). */
const AZURE_WIRE_SERVER = '168.63.129.16';

function isPublicIPv4(address: IPv4): boolean {
  return address.range() === 'unicast' && address.toString() !== AZURE_WIRE_SERVER;
}

/** All of IPv6 that has been given out for use between networks (RFC 4291 section 2.4, IANA's registry). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

function isPublicIPv6(address: IPv6): boolean {
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast';
}

/** 0.0.0.0/8 names no destination (RFC 1122 section 3.2.1.3). */
function goesNowhere(address: IPv4): boolean {
  return address.range() === 'unspecified';
}

type Reading = (bytes: number[]) => IPv4;

const at =
  (...positions: [number, number, number, number]): Reading =>
  (bytes) =>
    new ipaddr.IPv4(positions.map((position) => bytes[position] ?? 0));

const LAST_FOUR = at(12, 13, 14, 15);
/** Teredo hides the client's address by inverting it (RFC 4380 section 4). */
const TEREDO_CLIENT: Reading = (bytes) =>
  LAST_FOUR(bytes.map((byte, position) => (position < 12 ? byte : byte ^ 0xff)));

interface Embedding {
  range: AddressRange;
  /** Every address that the form may be read as counts. */
  readings: Reading[];
  /** Only one of the readings is right, and those that are mostly the zeros around it go nowhere. */
  padded?: true;
}

/** The forms that carry IPv4 addresses, and where. */
const EMBEDDINGS: Embedding[] = [
  // IPv4-mapped, RFC 4291 section 2.5.5.2.
  { range: ipaddr.parseCIDR('::ffff:0:0/96'), readings: [LAST_FOUR] },
  // IPv4-compatible, section 2.5.5.1; `::` and `::1` come out as nowhere.
  { range: ipaddr.parseCIDR('::/96'), readings: [LAST_FOUR] },
  // IPv4-translated, RFC 7915.
  { range: ipaddr.parseCIDR('::ffff:0:0:0/96'), readings: [LAST_FOUR] },
  // NAT64, RFC 6052 section 2.1.
  { range: ipaddr.parseCIDR('64:ff9b::/96'), readings: [LAST_FOUR] },
  // NAT64 of a network's own (RFC 8215). The length of its prefix is unknown, so all places of RFC 6052 section 2.2 count.
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
