import { getDomain } from '../../lib/public-suffixes.ts';
import { askAuthoritativeServers } from './authoritative-servers.ts';
import type { DnsAnswer } from './client.ts';
import { type CnameChain, cnameOf, followCnames } from './cname-chain.ts';
import {
  type AddressOutcome,
  type AuthoritativeView,
  addressesAt,
  diagnose,
  staleSeconds,
} from './diagnosis.ts';
import type { DnsProblem } from './dns-problem.ts';
import { canonicalName, isAskable, isLocalhost, isWithin, parentOf } from './domain-name.ts';
import type { AddressRecord, CaaRecord, DnsRecord, RecordType, SoaRecord } from './record.ts';
import { type DnsResolver, problemOfFailure } from './resolver.ts';
import { RRTYPES } from './wire.ts';

export type { DnsProblem } from './dns-problem.ts';

/** DNS records of a name and their problems. Unknown values are empty or null. */
export interface NameFindings {
  name: string;
  /** The targets of the CNAME chain, in order. */
  cnames: string[];
  /** The final addresses, according to the resolver. */
  a: AddressRecord[];
  aaaa: AddressRecord[];
  /** The name servers of the zone. */
  ns: string[];
  mx: { exchange: string; preference: number }[];
  txt: string[];
  soa: SoaRecord[];
  /** The relevant record set, possibly of a parent name (RFC 8659 section 3). */
  caa: CaaRecord[];
  /** The zone of the name, which owns the SOA. */
  zone: string | null;
  /** The present records of the name at the authoritative servers; null if none answered. */
  authoritative: AuthoritativeView | null;
  /** Seconds until the resolver's outdated records expire; null if they are up to date. */
  staleSeconds: number | null;
  /** The CAA look-up failed, so no authority may issue (RFC 8659 section 3). */
  caaFailed: boolean;
  /** The most important problem. */
  problem: DnsProblem | null;
}

export interface LookUpOptions {
  resolver: DnsResolver;
  signal: AbortSignal;
  /** Called with partial findings after each query, but never after `signal` aborts. */
  onProgress?: (findings: NameFindings) => void;
  /** Whether packets may be sent to this address. Name server names can point anywhere. */
  mayContact: (address: string) => boolean;
  /** Port of authoritative servers; default 53. */
  authoritativePort?: number;
}

/**
 * Looks up all record types of a name in parallel. For a wildcard, looks up the records of the wildcard itself. Values that
 * are unknown when `signal` aborts stay empty. Network errors never throw.
 */
export async function lookUp(name: string, options: LookUpOptions): Promise<NameFindings> {
  const { resolver, signal, onProgress } = options;
  const wanted = canonicalName(name);
  let findings = nothingFound(wanted);
  if (isLocalhost(wanted)) return localFindings(findings);
  if (!isAskable(wanted)) {
    return { ...findings, problem: { kind: 'nxdomain', name: wanted, unregistered: false } };
  }

  let outcomes: AddressOutcome[] = [];
  let unregistered = false;
  let lameServers: string[] = [];
  const ask = (type: RecordType) => (asked: string) => resolver.resolve(asked, type, signal);

  function found(more: Partial<NameFindings>): void {
    findings = { ...findings, ...more };
    if (outcomes.length > 0) {
      const { zone, authoritative } = findings;
      findings.problem = diagnose({ name: wanted, zone, outcomes, unregistered, lameServers });
      findings.staleSeconds = authoritative && staleSeconds(wanted, outcomes, authoritative);
    }
    if (!signal.aborted) onProgress?.({ ...findings });
  }

  async function addresses(): Promise<void> {
    const seen = await Promise.all([addressOutcome(wanted, ask('A')), addressOutcome(wanted, ask('AAAA'))]);
    if (seen.every(hasFailed)) {
      // Some resolvers fail for CNAME loops and CNAMEs into broken zones. Following them one by one shows the cause.
      const walked = await addressOutcome(wanted, ask('CNAME'));
      if (walked.kind === 'chain' && walked.chain.cnames.length > 0) {
        const failure = seen.flatMap((one) => (one.kind === 'chain' ? [one.chain.answer] : []))[0];
        const answer = failure ?? walked.chain.answer;
        seen.splice(0, 2, { kind: 'chain', chain: { ...walked.chain, answer } });
      }
    }
    if (seen.some(isMissing)) unregistered = await isUnregistered(wanted, ask('SOA'));
    outcomes = seen;
    const chains = seen.flatMap((outcome) => (outcome.kind === 'chain' ? [outcome.chain] : []));
    const records = chains.flatMap(addressesAt);
    found({
      cnames: longest(chains.map(({ cnames }) => cnames.map(({ target }) => target))),
      a: records.filter(({ type }) => type === 'A'),
      aaaa: records.filter(({ type }) => type === 'AAAA'),
    });
  }

  async function zoneAndItsServers(): Promise<void> {
    const cut = await findZone(wanted, ask('SOA'));
    if (cut === null) return;
    if (cut.isSure) found({ zone: cut.zone, soa: cut.soa });
    const named = await ask('NS')(cut.zone).catch(() => null);
    const ns = (named?.answers ?? []).flatMap((record) =>
      record.type === 'NS' && record.hdr.name === cut.zone ? [record.target] : [],
    );
    if (cut.isSure) found({ ns });
    const { mayContact, authoritativePort: port = 53 } = options;
    const now = await askAuthoritativeServers(wanted, cut.zone, ns, { resolver, signal, mayContact, port });
    lameServers = now.lame;
    if (now.zone !== cut.zone) found({ zone: now.zone, ns: now.ns, soa: [], authoritative: now.view });
    else found({ authoritative: now.view });
  }

  async function mail(): Promise<void> {
    const chain = await followCnames(wanted, ask('MX'));
    const mx = chain.answer.answers.flatMap((record) =>
      record.type === 'MX' && record.hdr.name === chain.end
        ? [{ exchange: record.exchange, preference: record.preference }]
        : [],
    );
    found({ mx: mx.sort((one, other) => one.preference - other.preference) });
  }

  async function texts(): Promise<void> {
    const chain = await followCnames(wanted, ask('TXT'));
    const txt = chain.answer.answers.flatMap((record) =>
      record.type === 'TXT' && record.hdr.name === chain.end ? [record.text] : [],
    );
    found({ txt });
  }

  async function certificationAuthorities(): Promise<void> {
    const caa = await relevantCaa(wanted, ask('CAA'));
    found(caa === null ? { caaFailed: true } : { caa });
  }

  await Promise.all([
    addresses(),
    zoneAndItsServers(),
    // A failure here shows in the addresses as well.
    mail().catch(() => undefined),
    texts().catch(() => undefined),
    certificationAuthorities(),
  ]);
  if (findings.problem?.kind === 'nxdomain' && unregistered && isAbove(findings.zone, wanted)) {
    // The findings belong to the registry's zone.
    findings = { ...findings, zone: null, ns: [], soa: [] };
  }
  return findings;
}

function nothingFound(name: string): NameFindings {
  return {
    name,
    cnames: [],
    a: [],
    aaaa: [],
    ns: [],
    mx: [],
    txt: [],
    soa: [],
    caa: [],
    zone: null,
    authoritative: null,
    staleSeconds: null,
    caaFailed: false,
    problem: null,
  };
}

/** The fixed addresses of localhost (RFC 6761 section 6.3). */
function localFindings(findings: NameFindings): NameFindings {
  const hdr = { name: findings.name, class: 1, ttl: 0 };
  return {
    ...findings,
    a: [{ type: 'A', hdr: { ...hdr, rrtype: RRTYPES.A, rdlength: 4 }, address: '127.0.0.1' }],
    aaaa: [{ type: 'AAAA', hdr: { ...hdr, rrtype: RRTYPES.AAAA, rdlength: 16 }, address: '::1' }],
  };
}

type Ask = (name: string) => Promise<DnsAnswer>;

async function addressOutcome(name: string, ask: Ask): Promise<AddressOutcome> {
  try {
    return { kind: 'chain', chain: await followCnames(name, ask) };
  } catch (error) {
    return { kind: problemOfFailure(error).kind };
  }
}

function hasFailed(outcome: AddressOutcome): boolean {
  if (outcome.kind !== 'chain') return true;
  const { answer, cnames } = outcome.chain;
  return cnames.length === 0 && answer.rcode !== 'NOERROR' && answer.rcode !== 'NXDOMAIN';
}

function isMissing(outcome: AddressOutcome): boolean {
  return outcome.kind === 'chain' && isPlainNxdomain(outcome.chain);
}

function isPlainNxdomain({ answer, cnames }: CnameChain): boolean {
  return answer.rcode === 'NXDOMAIN' && cnames.length === 0;
}

/** Whether the registrable domain does not exist either. */
async function isUnregistered(name: string, ask: Ask): Promise<boolean> {
  const registrable = getDomain(withoutWildcard(name), { validateHostname: false });
  if (registrable === null) return false;
  if (registrable === name) return true;
  try {
    return (await ask(registrable)).rcode === 'NXDOMAIN';
  } catch {
    // Unknown. The name itself does not exist in any case.
    return false;
  }
}

interface ZoneCut {
  zone: string;
  soa: SoaRecord[];
  /** False if a name below did not answer, because a zone in between may be missed. */
  isSure: boolean;
}

/** Finds the zone of a name: the owner of the SOA in the answer for the name or a parent. */
export async function findZone(name: string, ask: Ask): Promise<ZoneCut | null> {
  let isSure = true;
  for (let at = withoutWildcard(name); at !== ''; at = parentOf(at)) {
    let answer: DnsAnswer;
    try {
      answer = await ask(at);
    } catch {
      isSure = false;
      continue;
    }
    const soa = [...answer.answers, ...answer.authorities].filter(isSoa);
    const own = soa.filter(({ hdr }) => isWithin(at, hdr.name));
    // After a CNAME, the SOA belongs to the zone of its target.
    if (own[0] !== undefined && cnameOf(answer, at) === null) {
      return { zone: own[0].hdr.name, soa: own, isSure };
    }
    if (answer.rcode !== 'NOERROR' && answer.rcode !== 'NXDOMAIN') isSure = false;
  }
  return null;
}

function isSoa(record: DnsRecord): record is SoaRecord {
  return record.type === 'SOA';
}

/** The CAA records of the name or its nearest parent with any (RFC 8659 section 3); null if a query failed. */
async function relevantCaa(name: string, ask: Ask): Promise<CaaRecord[] | null> {
  for (let at = withoutWildcard(name); at !== ''; at = parentOf(at)) {
    try {
      const { answer, end, loop } = await followCnames(at, ask);
      if (loop !== null || (answer.rcode !== 'NOERROR' && answer.rcode !== 'NXDOMAIN')) return null;
      const caa = answer.answers
        .filter((record) => record.type === 'CAA')
        .filter(({ hdr }) => hdr.name === end);
      if (caa.length > 0) return caa;
    } catch {
      return null;
    }
  }
  return [];
}

function withoutWildcard(name: string): string {
  return name.startsWith('*.') ? name.slice(2) : name;
}

/** Whether the zone is above the registrable domain of the name. */
function isAbove(zone: string | null, name: string): boolean {
  const registrable = getDomain(withoutWildcard(name), { validateHostname: false });
  return zone !== null && registrable !== null && !isWithin(zone, registrable);
}

function longest(lists: string[][]): string[] {
  return lists.reduce((one, other) => (other.length > one.length ? other : one), []);
}
