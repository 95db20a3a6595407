import { getDomain } from 'tldts';
import { canonicalName, parentOf } from './domain-name.ts';
import known from './providers.json' with { type: 'json' };

const PROVIDERS = new Map(Object.entries(known));
/** Their names differ in number and ending: ns-1234.awsdns-56.co.uk. */
const ROUTE_53 = /\.awsdns-\d+\.(com|net|org|co\.uk)$/;

/**
 * The DNS provider that name servers belong to ('Cloudflare', 'Amazon Route 53' …); of an unknown one, the registrable
 * domain of its first name server; '' where there is none.
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
