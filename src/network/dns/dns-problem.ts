/** A DNS problem of a name. Each kind has its own sentence. */
export type DnsProblem =
  /** The name does not exist; `unregistered`: not even its registrable domain does. */
  | { kind: 'nxdomain'; name: string; unregistered: boolean }
  /** The resolver says that the zone's servers fail. */
  | { kind: 'servfail'; zone: string | null }
  /** The resolver refused the query, or did not understand it. */
  | { kind: 'resolver_error'; rcode: string }
  | { kind: 'timeout' }
  | { kind: 'unreachable' }
  /** The zone is delegated to servers that do not serve it; `servers`: their NS names. */
  | { kind: 'lame'; zone: string; servers: string[] }
  /** RFC 1912 section 2.4: a zone apex has SOA and NS records, so it cannot have a CNAME. */
  | { kind: 'cname_at_apex'; target: string }
  | { kind: 'cname_loop'; names: string[] }
  /** More CNAMEs in a row than resolvers follow. */
  | { kind: 'long_cname_chain' }
  /** The CNAME's last target does not exist or has no address. */
  | { kind: 'dangling_cname'; target: string }
  /** The name exists, but has no A, AAAA or CNAME record. */
  | { kind: 'no_address' };

/** Problems of the look-up: they leave open which records the name has, and the arrival of a visitor disproves them. */
export const isUnknown = ({ kind }: DnsProblem): boolean =>
  kind === 'timeout' || kind === 'unreachable' || kind === 'servfail' || kind === 'resolver_error';

/** The problem of an answer that is neither NOERROR nor NXDOMAIN. */
export const problemOfRcode = (rcode: string, zone: string | null): DnsProblem =>
  rcode === 'SERVFAIL' ? { kind: 'servfail', zone } : { kind: 'resolver_error', rcode };
