import type { Domain } from '../../../api/domains.ts';

export interface DnsRecord {
  type: 'CNAME' | 'A' | 'AAAA' | 'TXT';
  /** Name relative to the zone, as forms of DNS providers expect it: `@` for the apex, `www`, `*.shop`. */
  name: string;
  value: string;
}

/** Second-level labels below which names are registered, such as `co` in `example.co.uk`. */
const SECOND_LEVELS = new Set(['ac', 'co', 'com', 'edu', 'gov', 'net', 'or', 'org']);

/**
 * Returns the labels of a name before its likely zone; empty at the apex. Only the status report knows the real zone.
 */
function labelsInZone(name: string): string[] {
  const labels = name.split('.');
  const [country = '', second = ''] = labels.toReversed();
  const registered = country.length === 2 && SECOND_LEVELS.has(second) ? 3 : 2;
  return labels.slice(0, Math.max(labels[0] === '*' ? 1 : 0, labels.length - registered));
}

/** Returns whether a name is likely the apex of its zone. */
export const looksLikeApex = (name: string): boolean => labelsInZone(name).length === 0;

/** Records that point a domain at the platform: a CNAME, or addresses where a CNAME is not possible. */
export interface DnsAdvice {
  apex: boolean;
  cname: DnsRecord | null;
  addresses: DnsRecord[];
}

export function dnsAdvice({ name, network_details }: Pick<Domain, 'name' | 'network_details'>): DnsAdvice {
  const { cname, a_records } = network_details.dns_config_info;
  const apex = looksLikeApex(name);
  const inZone = apex ? '@' : labelsInZone(name).join('.');
  return {
    apex,
    cname: apex || cname === '' ? null : { type: 'CNAME', name: inZone, value: cname },
    addresses: a_records.map((value) => ({ type: value.includes(':') ? 'AAAA' : 'A', name: inZone, value })),
  };
}
