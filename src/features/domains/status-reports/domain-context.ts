import type { NetworkStatus } from '../../../database/tables/domains.ts';
import type { NameFindings } from '../../../network/dns/look-up.ts';
import type { RedirectChain } from '../../../network/probe/prober.ts';
import type { TlsObservation } from './observe-tls.ts';
import type { Reach } from './reach.ts';

/** What the platform itself knows of a domain that is checked. */
export interface DomainContext {
  id: string;
  name: string;
  /** The install's own `<name>.<site domain>`, whose DNS is the operator's. */
  isCname: boolean;
  /** The install does not serve the name: another one does, or its account has to prove the domain first. */
  isDuplicate: boolean;
  /** The TXT record that has to prove the domain before the name is served; null: none has to. */
  challenge: { key: string; value: string } | null;
  networkStatus: NetworkStatus;
  /** Why the authority gave no certificate, one sentence; null if nothing is known against one. */
  sslReason: string | null;
  target: DnsTarget;
  /** A certificate authority is configured. */
  hasAuthority: boolean;
}

/** What the DNS of a domain should say: the install's own name, and the edge's addresses where no CNAME can be. */
export interface DnsTarget {
  cname: string;
  addresses: string[];
}

/** What a check saw of a domain; null for what it has not seen, or did not look for. */
export interface Observation {
  findings: NameFindings | null;
  reach: Reach | null;
  tls: TlsObservation | null;
  /** Of `http://name/`. */
  redirects: RedirectChain | null;
  /** Why the authority may not issue, one sentence. */
  caaRefusal: string | null;
}

export const NO_OBSERVATION: Observation = {
  findings: null,
  reach: null,
  tls: null,
  redirects: null,
  caaRefusal: null,
};
