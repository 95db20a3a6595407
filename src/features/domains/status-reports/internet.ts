import type { DnsResolver } from '../../../network/dns/resolver.ts';
import type { AddressPolicy } from '../../../network/probe/address-policy.ts';
import type { Prober } from '../../../network/probe/prober.ts';

/** The world outside, as checks see it. */
export interface Internet {
  resolver: DnsResolver;
  prober: Prober;
  /** Whether a connection may go to an address. */
  mayContact: AddressPolicy;
  /** Port of authoritative name servers. */
  authoritativePort: number;
}
