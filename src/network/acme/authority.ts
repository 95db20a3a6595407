export interface AuthorityOptions {
  directoryUrl: string;
  /** Email address for messages from the authority. */
  contact: string | null;
  /** Whether the operator has agreed to the authority's terms of service. If not, no account is created. */
  termsAgreed: boolean;
  /** PEM of extra certificates to trust for the directory's HTTPS, besides the well-known roots. */
  ca: string | null;
}

export interface AcmeAccount {
  /** The account's private key: PEM, PKCS#8. */
  key: string;
  /** The account's URL at the authority; null until it is registered. */
  url: string | null;
}

/** Facts about the authority from its directory (RFC 8555 section 7.1.1). */
export interface AboutAuthority {
  /** Domain names by which CAA records refer to the authority; at least one. */
  identities: string[];
  /** URL of the terms of service. */
  termsOfService: string | null;
  /** Whether the authority suggests renewal times (RFC 9773). */
  offersRenewalInfo: boolean;
}

export interface CertificateRequest {
  /** The only DNS name of the certificate. Not a wildcard, because HTTP-01 cannot validate one. */
  name: string;
  account: AcmeAccount & { url: string };
  /** Publishes the key authorization (RFC 8555 section 8.3). Resolves to a function that withdraws it. */
  publishChallenge(token: string, keyAuthorization: string): Promise<() => Promise<void>>;
  signal: AbortSignal;
  /** Renewal id of the certificate that this one replaces (RFC 9773 section 5). */
  replaces?: string;
}

export interface IssuedCertificate {
  /** PEM: the certificate, then its intermediates. */
  chain: string;
  /** PEM, PKCS#8, ECDSA P-256. */
  key: string;
  notBefore: Date;
  notAfter: Date;
  orderUrl: string;
  /** Identifier for renewal information; null if the certificate does not name its issuer's key. */
  renewalId: string | null;
}

export interface RenewalWindow {
  start: Date;
  end: Date;
  /** Shortest time until the next request for renewal information; null if the authority gives none. */
  retryAfterSeconds: number | null;
}

/** A certificate authority that speaks ACME (RFC 8555). Every method throws AcmeRefusal or the signal's reason. */
export interface Authority {
  /** Reads the directory, which is cached for a day. */
  about(signal: AbortSignal): Promise<AboutAuthority>;
  /** Registers or finds the account of the key. Resolves to its URL. */
  register(account: AcmeAccount, signal: AbortSignal): Promise<string>;
  /**
   * Orders a certificate for one name by HTTP-01. Calls `publishChallenge` once for each validation, so never if an
   * earlier validation is still valid. Its errors are rethrown. The challenge is withdrawn however the order ends.
   */
  obtain(request: CertificateRequest): Promise<IssuedCertificate>;
  /** The renewal window that the authority suggests (RFC 9773), or null if it suggests none for this certificate. */
  renewalWindow(chain: string, signal: AbortSignal): Promise<RenewalWindow | null>;
}
