import type { Generated } from 'kysely';
import type { Json } from './json.ts';

export type NetworkStatus = 'PENDING' | 'ACTIVE' | 'FAILED';
export type SslStatus = 'pending' | 'active' | 'failed' | 'none';

export interface DomainRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  name: string;
  /** The install's own `<name>.<site domain>`, which cannot be deleted. */
  is_cname: boolean;
  is_primary: boolean;
  /** The row does not serve its name: another one does, or none does yet (`needs_proof`). At most one row of a name is not a duplicate. */
  is_duplicate: boolean;
  /** The row may not serve its name before the account has proved that it owns the domain. */
  needs_proof: Generated<boolean>;
  redirect_to_id: string | null;
  secure_all_urls: Generated<boolean>;
  network_status: Generated<NetworkStatus>;
  ssl_status: Generated<SslStatus>;
  /** Whether the last check saw visitors of this name arrive here; null while no check could tell. */
  reached: boolean | null;
  checked_at: string | null;
  /** Why there is no certificate from the authority, one sentence for the domain's owner. */
  ssl_reason: string | null;
  created_at: string;
}

/** What an account puts into the DNS to prove that it owns a domain, and whether it did. */
export interface DomainProofRow {
  account_id: string;
  /** The registrable domain, which the proof covers with all names below. */
  registrable: string;
  /** Random; part of the value of the TXT record. */
  token: string;
  /** When the record was seen; null: it was not yet, or another account has proved the domain since. */
  verified_at: string | null;
  /** When the platform looks for the record again; null once it is proved. */
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
  /** When the platform last looked by itself where the domain leads. */
  looked_at: string;
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
