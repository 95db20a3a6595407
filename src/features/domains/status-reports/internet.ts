import type { DnsResolver } from '../../../network/dns/resolver.ts';
import type { AddressPolicy } from '../../../network/probe/address-policy.ts';
import type { Visitor } from '../../../network/probe/visitor.ts';

/** The world outside, as checks see it. */
export interface Internet {
  resolver: DnsResolver;
  visitor: Visitor;
  /** Whether a connection may go to an address. */
  mayContact: AddressPolicy;
  /** Port of authoritative name servers. */
  authoritativePort: number;
}
