import { parse } from 'tldts';
import type { CnameChain } from './cname-chain.ts';
import type { DnsProblem } from './dns-problem.ts';
import type { DnsRecord } from './record.ts';

/** What came of asking the resolver for one type of address. */
export type AddressOutcome =
  | { kind: 'chain'; chain: CnameChain }
  | { kind: 'timeout' }
  | { kind: 'unreachable' };

export interface Evidence {
  name: string;
  /** The zone that the name is in; null if it could not be found out. */
  zone: string | null;
  /** Of A and of AAAA. */
  outcomes: AddressOutcome[];
  /** Does the registrable domain not exist? */
  unregistered: boolean;
  /** The servers of the zone that do not serve it. */
  lameServers: string[];
}

/**
 * The problem that matters most; null where the name leads to an address as it should. What was seen goes before what
 * could not be seen, and what the owner of the name can mend before what only shows that something is wrong.
 */
export function diagnose({ name, zone, outcomes, unregistered, lameServers }: Evidence): DnsProblem | null {
  const chains = outcomes.flatMap((outcome) => (outcome.kind === 'chain' ? [outcome.chain] : []));
  const loop = chains.find((chain) => chain.loop !== null)?.loop;
  if (loop) return { kind: 'cname_loop', names: loop };

  const target = chains.flatMap(({ cnames }) => cnames)[0]?.target;
  if (target !== undefined && (name === zone || isRegistered(name))) return { kind: 'cname_at_apex', target };
  if (chains.some((chain) => addressesAt(chain).length > 0)) return null;

  const isRcode = (rcode: string) => chains.find(({ answer }) => answer.rcode === rcode);
  const missing = isRcode('NXDOMAIN');
  if (missing && missing.cnames.length > 0) return { kind: 'dangling_cname', target: missing.end };
  if (missing) return { kind: 'nxdomain', name, unregistered };

  const failed = chains.some(({ answer }) => answer.rcode !== 'NOERROR');
  // A resolver may say SERVFAIL, or nothing at all, where it is the zone's own servers that fail.
  if (failed || chains.length < outcomes.length) {
    if (zone !== null && lameServers.length > 0) return { kind: 'lame', zone, servers: lameServers };
  }
  if (failed) return { kind: 'servfail', zone };
  if (outcomes.some(({ kind }) => kind === 'timeout')) return { kind: 'timeout' };
  if (outcomes.some(({ kind }) => kind === 'unreachable')) return { kind: 'unreachable' };

  const end = chains.find(({ cnames }) => cnames.length > 0)?.end;
  return end === undefined ? { kind: 'no_address' } : { kind: 'dangling_cname', target: end };
}

/**
 * Was the name registered with a registry? Then it is the top of a zone, even where its servers answer every question
 * with the CNAME, so that no SOA of it is ever seen. Suffixes that no registry is known for prove nothing.
 */
function isRegistered(name: string): boolean {
  const { domain, isIcann } = parse(name, { allowPrivateDomains: false, validateHostname: false });
  return isIcann === true && domain === name;
}

/** The addresses that a chain leads to. */
export function addressesAt({ answer, end }: CnameChain): Extract<DnsRecord, { type: 'A' | 'AAAA' }>[] {
  return answer.answers.filter(isAddress).filter(({ hdr }) => hdr.name === end);
}

function isAddress(record: DnsRecord): record is Extract<DnsRecord, { type: 'A' | 'AAAA' }> {
  return record.type === 'A' || record.type === 'AAAA';
}

/** What the zone's own servers say of a name. */
export interface AuthoritativeView {
  /** The names of the servers that answered with authority. */
  servers: string[];
  cname: string | null;
  a: string[];
  aaaa: string[];
}

/**
 * For how long the resolver will give what the authoritative servers no longer say: the longest remaining TTL in seconds
 * of what differs. null where they agree, as far as is known. Addresses that overlap agree: many servers rotate them.
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
    // RFC 2308 section 5: that there is nothing is kept as long as the SOA beside it.
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
