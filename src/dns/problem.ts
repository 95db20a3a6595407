/** What can be wrong with a name. */
export type DnsProblem =
  /** `unregistered`: the registrable domain itself is not there. */
  | { kind: 'nxdomain'; name: string; unregistered: boolean }
  /** The resolver could not find out, or would not. */
  | { kind: 'servfail'; zone: string | null }
  | { kind: 'timeout' }
  | { kind: 'unreachable' }
  /** `servers`: the names of those that are to serve the zone and do not. */
  | { kind: 'lame'; zone: string; servers: string[] }
  | { kind: 'cname_at_apex'; target: string }
  | { kind: 'cname_loop'; names: string[] }
  /** The target of the CNAME does not exist, or has no address. */
  | { kind: 'dangling_cname'; target: string }
  /** The name exists, but has neither A nor AAAA nor CNAME. */
  | { kind: 'no_address' };
