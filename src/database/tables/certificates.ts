import type { Generated } from 'kysely';

export type CertificateSource = 'LETS_ENCRYPT' | 'THIRD_PARTY' | 'SELF_SIGNED';

/** The certificate that the edge serves for a domain, one each. */
export interface CertificateRow {
  seq: Generated<number>;
  domain_id: string;
  source: CertificateSource;
  /** PEM, leaf first. */
  chain: string;
  /** PKCS#8 PEM, sealed (src/secrets/sealer.ts). */
  sealed_key: string;
  not_before: string;
  not_after: string;
  /** The issuing authority. Null for a self-signed certificate, like the next four columns. */
  directory_url: string | null;
  order_url: string | null;
  /** Id for the authority's renewal suggestions (RFC 9773). */
  renewal_id: string | null;
  renew_at: string | null;
  /** The upload that a third-party certificate comes from. Domains that it covers share it; null for other sources. */
  upload_id: string | null;
  /** The fewest days before the expiry at which the operator was warned of it; null: not yet. */
  warned_days: number | null;
  created_at: string;
}

/** Time of the next certificate order for a domain, and the number of consecutive failures. */
export interface CertificateAttemptRow {
  domain_id: string;
  failures: Generated<number>;
  next_at: string;
  /** No order before this time, however urgent: the authority set it, or the last order was moments ago. */
  held_until: string | null;
  /** The current order. Results of earlier orders are ignored. */
  order_id: string | null;
}

/** One account for each authority, shared by all processes. */
export interface AcmeAccountRow {
  directory_url: string;
  /** PKCS#8 PEM, sealed. */
  sealed_key: string;
  /** Null until the authority has registered it. */
  account_url: string | null;
  created_at: string;
}

/** One row for each validation request, because authorities limit them per name and hour. */
export interface AcmeValidationRow {
  seq: Generated<number>;
  name: string;
  at: string;
}
