import type { Domain } from '../../../api/domains.ts';

export interface DnsRecord {
  type: 'CNAME' | 'A' | 'AAAA' | 'TXT';
  /** As forms of DNS providers want it, without the zone: `@` for its top, `www`, `*.shop`. */
  name: string;
  value: string;
}

/** Names that look like what somebody registered: `example.com`, `example.co.uk`; there a CNAME is not possible. */
const SECOND_LEVELS = new Set(['ac', 'co', 'com', 'edu', 'gov', 'net', 'or', 'org']);

/** What of a name stands before the zone that it likely is in; empty at its top. The status report knows; this says what to try first. */
function labelsInZone(name: string): string[] {
  const labels = name.split('.');
  const [country = '', second = ''] = labels.toReversed();
  const registered = country.length === 2 && SECOND_LEVELS.has(second) ? 3 : 2;
  return labels.slice(0, Math.max(labels[0] === '*' ? 1 : 0, labels.length - registered));
}

/** Whether a name is likely the top of its zone. */
export const looksLikeApex = (name: string): boolean => labelsInZone(name).length === 0;

/** What to point at the platform: by name, or where a CNAME cannot be, by address. */
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
