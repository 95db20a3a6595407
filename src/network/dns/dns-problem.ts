/** A DNS problem of a name. Each kind has its own sentence. */
export type DnsProblem =
  /** The name does not exist; `unregistered`: not even its registrable domain does. */
  | { kind: 'nxdomain'; name: string; unregistered: boolean }
  /** The resolver failed or refused to answer. */
  | { kind: 'servfail'; zone: string | null }
  | { kind: 'timeout' }
  | { kind: 'unreachable' }
  /** The zone is delegated to servers that do not serve it; `servers`: their NS names. */
  | { kind: 'lame'; zone: string; servers: string[] }
  /** RFC 1912 section 2.4: a zone apex has SOA and NS records, so it cannot have a CNAME. */
  | { kind: 'cname_at_apex'; target: string }
  | { kind: 'cname_loop'; names: string[] }
  /** The CNAME's last target does not exist or has no address. */
  | { kind: 'dangling_cname'; target: string }
  /** The name exists, but has no A, AAAA or CNAME record. */
  | { kind: 'no_address' };
