import type { Generated } from 'kysely';
import type { Json } from './json.ts';

export type NetworkStatus = 'PENDING' | 'ACTIVE' | 'FAILED';
export type SslStatus = 'pending' | 'active' | 'failed' | 'none';

/** The primary domain of an install, or its name without one, for the order of lists. Triggers keep it. */
export interface PrimaryDomainRow {
  install_id: string;
  account_id: string;
  name: string;
}

export interface DomainRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  name: string;
  /** The install's own `<name>.<site domain>`, which cannot be deleted. */
  is_cname: boolean;
  is_primary: boolean;
  /** The row does not serve its name: another row does, or none yet (`needs_proof`). At most one row per name is not a duplicate. */
  is_duplicate: boolean;
  /** The row must not serve its name until the account proves that it owns the domain. */
  needs_proof: Generated<boolean>;
  /** Whether no certificate was ordered yet. Triggers keep it. */
  awaits_order: Generated<boolean>;
  redirect_to_id: string | null;
  secure_all_urls: Generated<boolean>;
  network_status: Generated<NetworkStatus>;
  ssl_status: Generated<SslStatus>;
  /** Whether visitors of this name reached this platform in the last check; null if unknown. */
  reached: boolean | null;
  checked_at: string | null;
  /** Why there is no certificate from the authority, one sentence for the domain's owner. */
  ssl_reason: string | null;
  created_at: string;
}

/** An account's ownership proof of a domain by a DNS record. */
export interface DomainProofRow {
  account_id: string;
  /** The registrable domain. The proof covers it and all names below it. */
  registrable: string;
  /** Random; part of the value of the TXT record. */
  token: string;
  /** When the record was found. Null: not yet, or another account has proved the domain since. */
  verified_at: string | null;
  /** Time of the next check for the record; null once proved. */
  next_look_at: string | null;
  created_at: string;
}

/** When an account last gave up a name that it served. */
export interface ReleasedNameRow {
  name: string;
  account_id: string;
  released_at: string;
}

export interface DomainLookRow {
  domain_id: string;
  /** Time of the platform's last automatic reachability check, or from which its turn counts. */
  looked_at: string;
  /** Whether there was a check at that time. */
  was_checked: Generated<boolean>;
}

export interface DomainReportRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  domain_id: string;
  complete: boolean;
  report: Json;
  created_at: string;
}
