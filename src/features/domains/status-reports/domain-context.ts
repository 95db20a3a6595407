import type { NetworkStatus } from '../../../database/tables/domains.ts';
import type { NameFindings } from '../../../network/dns/look-up.ts';
import type { RedirectChain } from '../../../network/probe/prober.ts';
import type { TlsObservation } from './observe-tls.ts';
import type { Reach } from './reach.ts';

/** The platform's own knowledge of a checked domain. */
export interface DomainContext {
  id: string;
  name: string;
  /** The default domain `<name>.<site domain>`, whose DNS the operator controls. */
  isCname: boolean;
  /** The install does not serve the name: another install does, or the domain is not verified. */
  isDuplicate: boolean;
  /** The TXT record that must verify the domain before the name is served; null if not needed. */
  challenge: { key: string; value: string } | null;
  networkStatus: NetworkStatus;
  /** One sentence that says why the authority issued no certificate; null if it did not refuse one. */
  sslReason: string | null;
  target: DnsTarget;
  /** A certificate authority is configured. */
  hasAuthority: boolean;
}

/** Wanted DNS records of a domain: the default domain as CNAME, or the edge's addresses if a CNAME is impossible. */
export interface DnsTarget {
  cname: string;
  addresses: string[];
}

/** Observations of a domain from outside; null for what was not observed. */
export interface Observation {
  findings: NameFindings | null;
  reach: Reach | null;
  tls: TlsObservation | null;
  /** Redirects from `http://name/`. */
  redirects: RedirectChain | null;
  /** One sentence that says why CAA records forbid the authority to issue. */
  caaRefusal: string | null;
}

export const NO_OBSERVATION: Observation = {
  findings: null,
  reach: null,
  tls: null,
  redirects: null,
  caaRefusal: null,
};
