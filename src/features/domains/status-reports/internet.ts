import type { DnsResolver } from '../../../network/dns/resolver.ts';
import type { AddressPolicy } from '../../../network/probe/address-policy.ts';
import type { Prober } from '../../../network/probe/prober.ts';

/** Access to the public internet for checks. */
export interface Internet {
  resolver: DnsResolver;
  prober: Prober;
  /** Allows connections to public addresses only. */
  mayContact: AddressPolicy;
  /** Port of authoritative name servers. */
  authoritativePort: number;
}
