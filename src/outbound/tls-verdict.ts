export type TlsProblem =
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_name'
  | 'self_signed'
  | 'incomplete_chain'
  | 'unknown_issuer'
  | 'no_tls'
  | 'refused'
  | 'timeout'
  | 'reset'
  | 'private_address'
  | 'unreachable'
  | 'alert';

/** What a visitor's browser would refuse, and one sentence that says so to people. */
export interface TlsFailure {
  problem: TlsProblem;
  sentence: string;
}
