import ipaddr from 'ipaddr.js';
import type { AddressRange } from '../../../config/settings/setting-values.ts';

export interface FirewallPolicy {
  /** Names this host's table; several hosts can share a machine. */
  instance: string;
  /** First and last user id of installs. */
  uids: { first: number; last: number };
  /** Ports of this machine's web server. Websites may connect to them, as any visitor may. */
  edgePorts: readonly number[];
  /**
   * Destinations that the operator allows besides the public Internet. A range does not cover this machine's own addresses
   * inside it; a single address does.
   */
  allowed: readonly AddressRange[];
  /** IP addresses of the machine's DNS servers. */
  nameservers: readonly string[];
}

/**
 * Not the public Internet: the machine itself, private and shared networks, link-local (cloud metadata services), test and
 * protocol ranges, multicast (IANA special-purpose address registries), and Azure's agent service, which has a public address.
 */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** All of IPv6 except the global unicast addresses (RFC 4291 section 2.4), and the ranges in those that carry IPv4. */
const SPECIAL_IPV6 = ['::/3', '4000::/2', '8000::/1', '2001:db8::/32', '2002::/16', '2001::/32'];

/** NAT64 (RFC 6052), which translates to IPv4. An address is as public as the IPv4 address inside it. */
const TRANSLATED = '64:ff9b::';
const TRANSLATED_BITS = 96;

export function tableName(instance: string): string {
  return `homeport_${instance}`;
}

/**
 * The rules for nft(8). They replace this host's table in one transaction. They match connections by the socket's user id,
 * so other users cost one comparison. They are stateless.
 */
export function firewallRules(policy: FirewallPolicy): string {
  const { uids, edgePorts, allowed } = policy;
  const table = `table inet ${tableName(policy.instance)}`;
  const single = allowed.filter(([address, bits]) => bits === (address.kind() === 'ipv4' ? 32 : 128));
  const wide = allowed.filter((range) => !single.includes(range));
  const reject = 'goto refused';
  const rules = [
    // Installs run no servers: a listener of theirs could be mistaken for a service of the machine.
    'tcp flags & (syn | ack) == syn | ack drop',
    // Mail goes through the host's queue, which limits and logs it. Submission with a password (465, 587) stays open.
    `tcp dport 25 ${reject}`,
    ...towards(single.map(asText), 'accept'),
    ...towards(policy.nameservers, 'meta l4proto { tcp, udp } th dport 53 accept'),
    ...(edgePorts.length === 0
      ? []
      : [`fib daddr type local tcp dport ${setOf(edgePorts.map(String))} accept`]),
    `fib daddr type { local, broadcast, anycast, multicast } ${reject}`,
    ...towards(wide.map(asText), 'accept'),
    ...towards(SPECIAL_IPV4.map(translated), reject),
    ...towards([`${TRANSLATED}/${TRANSLATED_BITS}`], 'accept'),
    ...towards([...SPECIAL_IPV4, ...SPECIAL_IPV6], reject),
  ];
  return [
    // Creates the table if it is missing, so that `delete` succeeds; in the same transaction as what follows.
    `${table} {}`,
    `delete ${table}`,
    `${table} {`,
    'chain refused {',
    // Clients retry TCP over IPv6 for a second after an ICMP error alone.
    'meta l4proto tcp reject with tcp reset',
    'reject with icmpx admin-prohibited',
    '}',
    'chain output {',
    'type filter hook output priority filter; policy accept;',
    `meta skuid ${uids.first}-${uids.last} jump installs`,
    '}',
    'chain installs {',
    ...rules,
    '}',
    '}',
    '',
  ].join('\n');
}

/** One rule for each address family in the list. */
function towards(addresses: readonly string[], verdict: string): string[] {
  const ipv4 = addresses.filter((address) => !address.includes(':'));
  const ipv6 = addresses.filter((address) => address.includes(':'));
  return [
    ...(ipv4.length === 0 ? [] : [`ip daddr ${setOf(ipv4)} ${verdict}`]),
    ...(ipv6.length === 0 ? [] : [`ip6 daddr ${setOf(ipv6)} ${verdict}`]),
  ];
}

function setOf(elements: readonly string[]): string {
  return `{ ${[...new Set(elements)].join(', ')} }`;
}

function asText([address, bits]: AddressRange): string {
  return `${address.toString()}/${bits}`;
}

function translated(range: string): string {
  const [address, bits] = ipaddr.IPv4.parseCIDR(range);
  return `${ipaddr.parse(TRANSLATED + address.toString())}/${TRANSLATED_BITS + bits}`;
}

/** Addresses of the name servers in resolv.conf(5). */
export function nameserversIn(resolvConf: string): string[] {
  return resolvConf.split('\n').flatMap((line) => {
    const address = /^\s*nameserver\s+([^\s%#;]+)/.exec(line)?.[1] ?? '';
    return ipaddr.isValid(address) ? [ipaddr.parse(address).toString()] : [];
  });
}
