import { parse } from '../../lib/public-suffixes.ts';
import type { CnameChain } from './cname-chain.ts';
import { type DnsProblem, problemOfRcode } from './dns-problem.ts';
import type { DnsRecord } from './record.ts';

/** Result of a query for one type of address. */
export type AddressOutcome =
  | { kind: 'chain'; chain: CnameChain }
  | { kind: 'timeout' }
  | { kind: 'unreachable' };

export interface Evidence {
  name: string;
  /** The zone of the name; null if unknown. */
  zone: string | null;
  /** Results for A and AAAA. */
  outcomes: AddressOutcome[];
  /** Whether the registrable domain does not exist. */
  unregistered: boolean;
  /** Servers to which the zone is delegated but that do not serve it. */
  lameServers: string[];
}

/**
 * Finds the most important problem; null if the name resolves to an address. Observed problems come before failed queries,
 * and problems that the owner can fix come before mere symptoms.
 */
export function diagnose({ name, zone, outcomes, unregistered, lameServers }: Evidence): DnsProblem | null {
  const chains = outcomes.flatMap((outcome) => (outcome.kind === 'chain' ? [outcome.chain] : []));
  const loop = chains.find((chain) => chain.loop !== null)?.loop;
  if (loop) return { kind: 'cname_loop', names: loop };
  if (chains.some(({ isTooLong }) => isTooLong)) return { kind: 'long_cname_chain' };

  const target = chains.flatMap(({ cnames }) => cnames)[0]?.target;
  if (target !== undefined && (name === zone || isRegistered(name))) return { kind: 'cname_at_apex', target };
  if (chains.some((chain) => addressesAt(chain).length > 0)) return null;

  const isRcode = (rcode: string) => chains.find(({ answer }) => answer.rcode === rcode);
  const missing = isRcode('NXDOMAIN');
  if (missing && missing.cnames.length > 0) return { kind: 'dangling_cname', target: missing.end };
  if (missing) return { kind: 'nxdomain', name, unregistered };

  const failed = chains.find(({ answer }) => answer.rcode !== 'NOERROR');
  // A resolver may answer SERVFAIL, or not at all, if the zone's servers fail.
  if (failed || chains.length < outcomes.length) {
    if (zone !== null && lameServers.length > 0) return { kind: 'lame', zone, servers: lameServers };
  }
  if (failed) return problemOfRcode(failed.answer.rcode, zone);
  if (outcomes.some(({ kind }) => kind === 'timeout')) return { kind: 'timeout' };
  if (outcomes.some(({ kind }) => kind === 'unreachable')) return { kind: 'unreachable' };

  const end = chains.find(({ cnames }) => cnames.length > 0)?.end;
  return end === undefined ? { kind: 'no_address' } : { kind: 'dangling_cname', target: end };
}

/**
 * Whether the name is registered at a known registry. It is then a zone apex, even if its servers answer every query with
 * the CNAME, which hides the SOA. Unknown suffixes prove nothing.
 */
function isRegistered(name: string): boolean {
  const { domain, isIcann } = parse(name, { allowPrivateDomains: false, validateHostname: false });
  return isIcann === true && domain === name;
}

/** The addresses at the end of a chain. */
export function addressesAt({ answer, end }: CnameChain): Extract<DnsRecord, { type: 'A' | 'AAAA' }>[] {
  return answer.answers.filter(isAddress).filter(({ hdr }) => hdr.name === end);
}

function isAddress(record: DnsRecord): record is Extract<DnsRecord, { type: 'A' | 'AAAA' }> {
  return record.type === 'A' || record.type === 'AAAA';
}

/** The records of a name at the zone's own servers. */
export interface AuthoritativeView {
  /** Names of the servers that gave authoritative answers. */
  servers: string[];
  cname: string | null;
  a: string[];
  aaaa: string[];
}

/**
 * Seconds until the resolver's outdated records expire: the longest remaining TTL of the differing records. Null if the
 * resolver and the authoritative servers agree. Overlapping addresses agree, because many servers rotate them.
 */
export function staleSeconds(
  name: string,
  outcomes: AddressOutcome[],
  authoritative: AuthoritativeView,
): number | null {
  const ttls: number[] = [];
  for (const outcome of outcomes) {
    if (outcome.kind !== 'chain') continue;
    const { cnames, answer } = outcome.chain;
    const addresses = answer.answers.filter(isAddress).filter(({ hdr }) => hdr.name === name);
    const [cname] = cnames;
    if (cname !== undefined) {
      if (cname.target !== authoritative.cname) ttls.push(cname.hdr.ttl);
    } else if (addresses.length > 0) {
      const now = addresses[0]?.type === 'A' ? authoritative.a : authoritative.aaaa;
      const isSame = authoritative.cname === null && addresses.some(({ address }) => now.includes(address));
      if (!isSame) ttls.push(...addresses.map(({ hdr }) => hdr.ttl));
    }
  }
  const seesNothing = outcomes.every(
    (outcome) => outcome.kind === 'chain' && isNegative(outcome.chain) && outcome.chain.cnames.length === 0,
  );
  const { cname, a, aaaa } = authoritative;
  if (seesNothing && (cname !== null || a.length > 0 || aaaa.length > 0)) {
    // RFC 2308 section 5: a negative answer is cached as long as the SOA in it.
    ttls.push(
      ...outcomes.flatMap((outcome) => (outcome.kind === 'chain' ? negativeTtls(outcome.chain) : [])),
    );
  }
  return ttls.length === 0 ? null : Math.max(...ttls);
}

function isNegative(chain: CnameChain): boolean {
  const isFinal = chain.answer.rcode === 'NOERROR' || chain.answer.rcode === 'NXDOMAIN';
  return isFinal && addressesAt(chain).length === 0;
}

function negativeTtls({ answer }: CnameChain): number[] {
  return answer.authorities.flatMap((record) =>
    record.type === 'SOA' ? [Math.min(record.hdr.ttl, record.minttl)] : [],
  );
}
