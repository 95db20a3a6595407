import type { NetworkStatus } from '../../../database/tables/domains.ts';
import type { NameFindings } from '../../../network/dns/look-up.ts';
import type { Journey } from '../../../network/probe/visitor.ts';
import type { Reach } from './reach.ts';
import type { TlsSight } from './tls-sight.ts';

/** What the platform itself knows of a domain that is checked. */
export interface Standing {
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
export interface Sight {
  findings: NameFindings | null;
  reach: Reach | null;
  tls: TlsSight | null;
  /** Of `http://name/`. */
  journey: Journey | null;
  /** Why the authority may not issue, one sentence. */
  caaRefusal: string | null;
}

export const NOTHING_SEEN: Sight = {
  findings: null,
  reach: null,
  tls: null,
  journey: null,
  caaRefusal: null,
};
