import { getDomain } from '../../lib/public-suffixes.ts';
import { canonicalName, parentOf } from './domain-name.ts';
import known from './providers.json' with { type: 'json' };

const PROVIDERS = new Map(Object.entries(known));
/** Route 53 servers differ in numbers and suffix: ns-1234.awsdns-56.co.uk. */
const ROUTE_53 = /\.awsdns-\d+\.(com|net|org|co\.uk)$/;

/**
 * The DNS provider of name servers ('Cloudflare', 'Amazon Route 53' …). For an unknown provider, the registrable domain of
 * the first name server; '' without name servers.
 */
export function dnsProviderOf(ns: string[]): string {
  const names = ns.map(canonicalName);
  for (const name of names) {
    const provider = providerOf(name);
    if (provider !== null) return provider;
  }
  const [first = ''] = names;
  return getDomain(first) ?? first;
}

function providerOf(name: string): string | null {
  if (ROUTE_53.test(name)) return 'Amazon Route 53';
  for (let suffix = name; suffix !== ''; suffix = parentOf(suffix)) {
    const provider = PROVIDERS.get(suffix);
    if (provider !== undefined) return provider;
  }
  return null;
}
