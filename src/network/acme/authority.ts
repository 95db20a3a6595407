export interface AuthorityOptions {
  directoryUrl: string;
  /** Mail address that the authority may write to. */
  contact: string | null;
  /** Whether the operator has agreed to the authority's terms of service. Without it no account is made. */
  termsAgreed: boolean;
  /** PEM of certificates trusted, besides the well-known ones, for the directory's HTTPS. */
  ca: string | null;
}

export interface AcmeAccount {
  /** The account's private key: PEM, PKCS#8. */
  key: string;
  /** The account's URL at the authority; null while it is not registered. */
  url: string | null;
}

/** What the directory says of the authority (RFC 8555 section 7.1.1). */
export interface AboutAuthority {
  /** Domain names that CAA records name it by; at least one. */
  identities: string[];
  /** URL of the terms of service. */
  termsOfService: string | null;
  /** Whether it suggests when to renew (RFC 9773). */
  offersRenewalInfo: boolean;
}

export interface CertificateRequest {
  /** The one DNS name of the certificate; no wildcard, as HTTP-01 cannot prove one. */
  name: string;
  account: AcmeAccount & { url: string };
  /** Puts the key authorization in place (RFC 8555 section 8.3); returns how to take it away. */
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
  /** By which the authority knows it for renewal information; null if the certificate names no key of its issuer. */
  renewalId: string | null;
}

export interface RenewalWindow {
  start: Date;
  end: Date;
  /** When the authority would be asked again at the earliest. */
  retryAfterSeconds: number | null;
}

/** A certificate authority that speaks ACME (RFC 8555). Every method throws AcmeRefusal, or the signal's reason. */
export interface Authority {
  /** From the directory, which is kept for a day. */
  about(signal: AbortSignal): Promise<AboutAuthority>;
  /** Registers (or finds) the account of the key; returns its URL. */
  register(account: AcmeAccount, signal: AbortSignal): Promise<string>;
  /**
   * One certificate for one name by HTTP-01. `prove` is called once for each validation; not at all if the authority
   * still holds the name for proven; what it throws is thrown. What it put in place is withdrawn however the order ends.
   */
  obtain(request: CertificateRequest): Promise<IssuedCertificate>;
  /** When the authority suggests to renew (RFC 9773), or null if it offers nothing for this certificate. */
  renewalWindow(chain: string, signal: AbortSignal): Promise<RenewalWindow | null>;
}
