/** Publishes what proves control of a host name to an ACME authority, or to Homeport itself. */
export interface ProofPublisher {
  /**
   * Publishes a text at exactly one host name and path, over HTTP and HTTPS, before any redirect, until it is withdrawn or a day has
   * passed. Active when it resolves; replaces an earlier text. No website needs to have the name. Rejects with a
   * PermanentHostError if the proof is invalid.
   */
  publish(proof: Proof): Promise<void>;
  /** Withdraws a published text. A missing one is success. */
  withdraw(proof: Pick<Proof, 'hostname' | 'path'>): Promise<void>;
}

/** RFC 8555 section 8.3. */
export const ACME_CHALLENGE_PREFIX = '/.well-known/acme-challenge/';
/** The edge proves below this path that requests for a name reach it. It never serves customer content there. */
export const DOMAIN_CHECK_PREFIX = '/.well-known/homeport-check/';

/** A published text that proves control of a host name. */
export interface Proof {
  /** ASCII, lower case; no wildcard. */
  hostname: string;
  /** {@link ACME_CHALLENGE_PREFIX} or {@link DOMAIN_CHECK_PREFIX} and 1 to 128 of `A-Z a-z 0-9 _ -`. */
  path: string;
  /** 1 to 1,024 bytes in UTF-8. */
  text: string;
}
