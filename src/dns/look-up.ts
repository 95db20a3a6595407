import type { DnsProblem } from './problem.ts';
import type { AddressRecord, CaaRecord, SoaRecord } from './record.ts';
import type { DnsResolver } from './resolver.ts';

export type { DnsProblem } from './problem.ts';

/** What DNS says of a name. What is not known (yet) is empty or null. */
export interface NameFindings {
  name: string;
  /** The targets of the CNAME chain, in order. */
  cnames: string[];
  /** The final addresses, as the resolver sees them. */
  a: AddressRecord[];
  aaaa: AddressRecord[];
  /** The name servers of the zone. */
  ns: string[];
  mx: { exchange: string; preference: number }[];
  txt: string[];
  soa: SoaRecord[];
  /** The relevant set after climbing the tree (RFC 8659 section 3). */
  caa: CaaRecord[];
  /** The zone that the name is in (the owner of the SOA). */
  zone: string | null;
  /** What the zone's authoritative servers say now of the name itself; null if none could be asked. */
  authoritative: { servers: string[]; cname: string | null; a: string[]; aaaa: string[] } | null;
  /** The resolver still gives what the authoritative servers no longer say: seconds until its caches end. */
  staleSeconds: number | null;
  /** CAA could not be looked up: no authority may issue then (RFC 8659 section 3). */
  caaFailed: boolean;
  /** The one that matters most. */
  problem: DnsProblem | null;
}

export interface LookUpOptions {
  resolver: DnsResolver;
  signal: AbortSignal;
  /** Called with the findings so far after each look-up, and never after `signal` is aborted. */
  onProgress?: (findings: NameFindings) => void;
  /** May a packet be sent to this address? The name of a name server may point anywhere. */
  mayContact: (address: string) => boolean;
  /** Port of authoritative servers; 53. */
  authoritativePort?: number;
}

export function lookUp(_name: string, _options: LookUpOptions): Promise<NameFindings> {
  throw new Error('not built yet');
}
