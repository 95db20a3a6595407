import type { DnsProblem } from './problem.ts';
import type { AddressRecord, CaaRecord, SoaRecord } from './record.ts';
import type { DnsResolver } from './resolver.ts';

export type { DnsProblem } from './problem.ts';

/** What the DNS says of a name. */
export interface NameFindings {
  name: string;
  /** The CNAME chain in order: its targets. */
  cnames: string[];
  /** The addresses at the end of the chain, as the resolver sees them. */
  a: AddressRecord[];
  aaaa: AddressRecord[];
  /** The zone's name servers. */
  ns: string[];
  mx: { exchange: string; preference: number }[];
  txt: string[];
  /** The zone's SOA record. */
  soa: SoaRecord[];
  /** The relevant set after climbing the tree (RFC 8659 3). */
  caa: CaaRecord[];
  /** The zone that the name is in; null if it is not known, or a registry's zone in which the name is not registered. */
  zone: string | null;
  /** What the zone's authoritative servers say now of the name itself; null if none could be asked. */
  authoritative: AuthoritativeFindings | null;
  /** The resolver still gives what the authoritative servers no longer say: seconds until its caches end; else null. */
  staleSeconds: number | null;
  /** The CAA records could not be looked up (RFC 8659 3: no certificate may be issued then). */
  caaFailed: boolean;
  /** The problem that matters most. */
  problem: DnsProblem | null;
}

export interface AuthoritativeFindings {
  /** The NS names of the servers that answered with authority. */
  servers: string[];
  cname: string | null;
  a: string[];
  aaaa: string[];
}

export interface LookUpOptions {
  resolver: DnsResolver;
  /** Ends the look-up; what is not known by then stays empty. */
  signal: AbortSignal;
  /** Gets the findings so far after each look-up; never after the signal aborted. */
  onProgress?: (findings: NameFindings) => void;
  /** Whether a packet may be sent to this address: an NS name may point anywhere. */
  mayContact: (address: string) => boolean;
  /** The port of authoritative servers; 53. */
  authoritativePort?: number;
}

/** Nothing known yet of `name`. */
export function noFindings(name: string): NameFindings {
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

/**
 * Looks a name up in the DNS, everything side by side; of `*.example.com` the wildcard's own records. Never throws for
 * what the network does: it is in the findings.
 */
export async function lookUp(name: string, _options: LookUpOptions): Promise<NameFindings> {
  return noFindings(name);
}
