import type { DnsResolver } from '../../dns/resolver.ts';
import type { AddressPolicy } from '../../outbound/address-policy.ts';
import type { Visitor } from '../../outbound/visitor.ts';

/** The world outside, as checks see it. */
export interface Internet {
  resolver: DnsResolver;
  visitor: Visitor;
  /** Whether a connection may go to an address. */
  mayContact: AddressPolicy;
  /** Port of authoritative name servers. */
  authoritativePort: number;
}
