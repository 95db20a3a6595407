import ipaddr from 'ipaddr.js';

type IPv4 = ReturnType<typeof ipaddr.IPv4.parse>;
type IPv6 = ReturnType<typeof ipaddr.IPv6.parse>;

interface Embedding {
  range: [IPv6, number];
  /** Where the bytes of its IPv4 addresses stand among the 16, each perhaps inverted. */
  at: { bytes: number[]; inverted?: boolean }[];
  /** Only some of the places hold an address, and it is not known which. */
  uncertain?: boolean;
}

const LAST = { bytes: [12, 13, 14, 15] };

/** Kinds of IPv6 addresses behind which there is IPv4. */
const EMBEDDINGS: Embedding[] = [
  // IPv4-mapped, RFC 4291 2.5.5.2.
  { range: ipaddr.IPv6.parseCIDR('::ffff:0:0/96'), at: [LAST] },
  // IPv4-compatible, RFC 4291 2.5.5.1; :: and ::1 are in it, and 0.0.0.0 and 0.0.0.1 are as little public as they.
  { range: ipaddr.IPv6.parseCIDR('::/96'), at: [LAST] },
  // IPv4-translated, RFC 2765.
  { range: ipaddr.IPv6.parseCIDR('::ffff:0:0:0/96'), at: [LAST] },
  // NAT64 with the well-known prefix, RFC 6052 2.1.
  { range: ipaddr.IPv6.parseCIDR('64:ff9b::/96'), at: [LAST] },
  // NAT64 of a local network, RFC 8215: its prefix may have any of the lengths 48, 56, 64 and 96 of RFC 6052 2.2.
  {
    range: ipaddr.IPv6.parseCIDR('64:ff9b:1::/48'),
    at: [{ bytes: [6, 7, 9, 10] }, { bytes: [7, 9, 10, 11] }, { bytes: [9, 10, 11, 12] }, LAST],
    uncertain: true,
  },
  // 6to4, RFC 3056 2.
  { range: ipaddr.IPv6.parseCIDR('2002::/16'), at: [{ bytes: [2, 3, 4, 5] }] },
  // Teredo, RFC 4380 4: the server, and the client with its bits inverted.
  {
    range: ipaddr.IPv6.parseCIDR('2001::/32'),
    at: [{ bytes: [4, 5, 6, 7] }, { ...LAST, inverted: true }],
  },
];

/**
 * The IPv4 addresses that packets to an IPv6 address go to, or may go to; null for one that carries none by its kind.
 * Where it is not known which bits are the address, all that could be are given; those in 0.0.0.0/8 cannot, as no
 * packet is sent there, and are mostly the zeros around the address.
 */
export function embeddedAddresses(address: IPv6): IPv4[] | null {
  const embedding = EMBEDDINGS.find(({ range }) => address.match(range));
  if (!embedding) return null;
  const octets = address.toByteArray();
  return embedding.at
    .map(({ bytes, inverted }) => bytes.map((at) => (octets[at] ?? 0) ^ (inverted ? 0xff : 0)))
    .filter(([first]) => !embedding.uncertain || first !== 0)
    .map((four) => new ipaddr.IPv4(four));
}
