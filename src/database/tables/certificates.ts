import type { Generated } from 'kysely';

export type CertificateSource = 'LETS_ENCRYPT' | 'THIRD_PARTY' | 'SELF_SIGNED';

/** What the edge shows for a domain; one certificate for each. */
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
  /** The authority that issued it; null for a self-signed one, and so are the next four. */
  directory_url: string | null;
  order_url: string | null;
  /** By which the authority suggests when to renew (RFC 9773). */
  renewal_id: string | null;
  renew_at: string | null;
  /** The fewest days before the expiry at which the operator was warned of it; null: not yet. */
  warned_days: number | null;
  created_at: string;
}

/** When the authority is asked next for a domain's certificate, and how often in a row that failed. */
export interface CertificateAttemptRow {
  domain_id: string;
  failures: Generated<number>;
  next_at: string;
  /** Nobody may ask before, however urgent: the authority said so, or it was asked only just now. */
  held_until: string | null;
  /** The order that is under way; what an earlier one finds out counts no more. */
  order_id: string | null;
}

/** One account for each authority, whatever process made it. */
export interface AcmeAccountRow {
  directory_url: string;
  /** PKCS#8 PEM, sealed. */
  sealed_key: string;
  /** Null until the authority has registered it. */
  account_url: string | null;
  created_at: string;
}

/** One row for each validation asked of the authority: there is a limit for each name and hour. */
export interface AcmeValidationRow {
  seq: Generated<number>;
  name: string;
  at: string;
}
