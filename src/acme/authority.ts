export { AcmeRefusal } from './refusal.ts';

/** A certificate authority that speaks ACME (RFC 8555), as the operator configured it. */
export interface AuthorityOptions {
  directoryUrl: string;
  /** Mail address that the authority may write to. */
  contact: string | null;
  /** The operator agrees to the authority's terms of service. Without it no account is made where there are terms. */
  termsAgreed: boolean;
  /** PEM; trusted for the directory's HTTPS besides the well-known roots. */
  ca: string | null;
}

export interface AcmeAccount {
  /** The account's private key: PEM, PKCS#8. */
  key: string;
  /** What `register` returned; null before that. */
  url: string | null;
}

/** What the directory says of the authority (RFC 8555 section 7.1.1). */
export interface AboutAuthority {
  /** The issuer domain names that a CAA record may allow (RFC 8659 section 4.2); at least one. */
  identities: string[];
  termsOfService: string | null;
  /** It suggests times of renewal (RFC 9773). */
  offersRenewalInfo: boolean;
}

export interface CertificateRequest {
  /** A host name in ASCII, not a wildcard. */
  name: string;
  account: AcmeAccount & { url: string };
  /**
   * Has `http://<name>/.well-known/acme-challenge/<token>` answer the key authorization; resolves to what ends that.
   * Called once for each validation, and not at all while an earlier one is still good.
   */
  prove(token: string, keyAuthorization: string): Promise<() => Promise<void>>;
  signal: AbortSignal;
  /** `renewalId` of the certificate that this one takes the place of (RFC 9773 section 5). */
  replaces?: string;
}

export interface IssuedCertificate {
  /** PEM: the certificate for the name, then its issuers, without the root. */
  chain: string;
  /** Its private key: ECDSA P-256, PEM, PKCS#8, unencrypted. */
  key: string;
  /** Whole seconds. */
  notBefore: Date;
  notAfter: Date;
  orderUrl: string;
  /** RFC 9773 section 4.1; null if the certificate does not name its issuer's key. */
  renewalId: string | null;
}

export interface RenewalWindow {
  start: Date;
  end: Date;
  /** When to ask again, between a minute and a day; null if the authority does not say. */
  retryAfterSeconds: number | null;
}

/**
 * Every method throws AcmeRefusal for what the authority or the way to it does, and `signal.reason` once `signal`
 * has aborted. Each request ends by itself after 20 s, each method after 90 s.
 */
export interface Authority {
  /** From the directory, which is kept for a day. */
  about(signal: AbortSignal): Promise<AboutAuthority>;
  /**
   * Registers the account of the key, or finds it, and returns its URL. `account.url` plays no part, so that it also
   * mends an account that the authority has forgotten: when `obtain` is refused with
   * `urn:ietf:params:acme:error:accountDoesNotExist`, register with the same key again, store the URL, and go on.
   */
  register(account: AcmeAccount, signal: AbortSignal): Promise<string>;
  /** One certificate for one name by HTTP-01, with a key of its own. The proof is withdrawn however it ends. */
  obtain(request: CertificateRequest): Promise<IssuedCertificate>;
  /** When the authority suggests to renew the first certificate of `chain` (PEM); null if it has no suggestion. */
  renewalWindow(chain: string, signal: AbortSignal): Promise<RenewalWindow | null>;
}
