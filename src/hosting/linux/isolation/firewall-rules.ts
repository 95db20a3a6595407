import ipaddr from 'ipaddr.js';
import type { AddressRange } from '../../../config/settings/setting-values.ts';

export interface FirewallPolicy {
  /** Tells the tables of several hosts on the machine apart. */
  instance: string;
  /** First and last user id of installs. */
  uids: { first: number; last: number };
  /** Where websites are reached on this machine: they may fetch themselves and each other as any visitor may. */
  edgePorts: readonly number[];
  /**
   * What the operator lets websites reach besides the public. A range of several addresses does not stand for those of
   * this machine itself that lie in it; one that is named by itself does.
   */
  allowed: readonly AddressRange[];
  /** IP addresses of the machine's DNS servers. */
  nameservers: readonly string[];
}

/**
 * Not the public Internet: the machine itself, private and shared networks, link-local (where clouds have their metadata), what is set
 * aside for tests and protocols, groups (IANA's registries of special-purpose addresses), and Azure's agent service, which has a
 * public address.
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

/** All of IPv6 but what has been given out for use between networks (RFC 4291 section 2.4), and of that what carries IPv4. */
const SPECIAL_IPV6 = ['::/3', '4000::/2', '8000::/1', '2001:db8::/32', '2002::/16', '2001::/32'];

/** Where a network translates to IPv4 (NAT64, RFC 6052): as public as what is inside. */
const TRANSLATED = '64:ff9b::';
const TRANSLATED_BITS = 96;

export function tableName(instance: string): string {
  return `homeport_${instance}`;
}

/**
 * The rules as nft(8) reads them; loaded at once or not at all, in the place of what was there. They hold for connections that
 * installs open, by the user id of the socket, and cost other users one comparison. No state of connections is kept.
 */
export function firewallRules(policy: FirewallPolicy): string {
  const { uids, edgePorts, allowed } = policy;
  const table = `table inet ${tableName(policy.instance)}`;
  const single = allowed.filter(([address, bits]) => bits === (address.kind() === 'ipv4' ? 32 : 128));
  const wide = allowed.filter((range) => !single.includes(range));
  const reject = 'goto refused';
  const rules = [
    // They are no servers: nothing that they listen at may be taken for a service of the machine.
    'tcp flags & (syn | ack) == syn | ack drop',
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
    // Made if it is not there, so that it can be deleted; both in the same transaction as what follows.
    `${table} {}`,
    `delete ${table}`,
    `${table} {`,
    'chain refused {',
    // What is refused by ICMP alone is tried again for a second where it is IPv6.
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

/** One rule for each family of addresses that is among them. */
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

/** The servers named in resolv.conf(5). */
export function nameserversIn(resolvConf: string): string[] {
  return resolvConf.split('\n').flatMap((line) => {
    const address = /^\s*nameserver\s+([^\s%#;]+)/.exec(line)?.[1] ?? '';
    return ipaddr.isValid(address) ? [ipaddr.parse(address).toString()] : [];
  });
}
