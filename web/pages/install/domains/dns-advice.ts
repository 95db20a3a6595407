import type { Domain } from '../queries.ts';

export interface DnsRecord {
  type: 'CNAME' | 'A' | 'AAAA';
  name: string;
  value: string;
}

/** Names that look like what somebody registered: `example.com`, `example.co.uk`; there a CNAME is not possible. */
const SECOND_LEVELS = new Set(['ac', 'co', 'com', 'edu', 'gov', 'net', 'or', 'org']);

/** Whether a name is likely the top of its zone. The status report knows; this says what to try first. */
export function looksLikeApex(name: string): boolean {
  const labels = name.split('.');
  if (labels[0] === '*') return false;
  const [country = '', second = ''] = labels.toReversed();
  const registered = country.length === 2 && SECOND_LEVELS.has(second) ? 3 : 2;
  return labels.length <= registered;
}

/** What to point at the platform: by name, or where a CNAME cannot be, by address. */
export interface DnsAdvice {
  apex: boolean;
  cname: DnsRecord | null;
  addresses: DnsRecord[];
}

export function dnsAdvice({ name, network_details }: Pick<Domain, 'name' | 'network_details'>): DnsAdvice {
  const { cname, a_records } = network_details.dns_config_info;
  const apex = looksLikeApex(name);
  return {
    apex,
    cname: apex || cname === '' ? null : { type: 'CNAME', name, value: cname },
    addresses: a_records.map((value) => ({ type: value.includes(':') ? 'AAAA' : 'A', name, value })),
  };
}
