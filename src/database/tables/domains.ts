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
  /** Another install has the name and serves it. At most one row of a name is not a duplicate. */
  is_duplicate: boolean;
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
