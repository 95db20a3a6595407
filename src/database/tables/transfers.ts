import type { Generated } from 'kysely';
import type { Json } from './json.ts';

/** The statuses of transfers that can still happen. At most one such transfer of a site exists. */
export const OPEN_TRANSFER = ['pending', 'scheduled', 'in_progress'] as const;

export type TransferStatus = (typeof OPEN_TRANSFER)[number] | 'completed' | 'failed' | 'cancelled';

/** A transfer of a site to another account. */
export interface SiteTransferRow {
  seq: Generated<number>;
  id: string;
  /** The site may be deleted. */
  site_id: string;
  /** Name of the site and its installs (array of `{id, name}`) at the request, then at the transfer. */
  site_name: string;
  installs: Json;
  origin_account_id: string;
  /** Whether the account exists is not checked before someone accepts for it. */
  destination_account_id: string;
  status: TransferStatus;
  /** An owner of the destination must accept first. */
  awaits_acceptance: boolean;
  requested_by: string;
  /** Null until it is accepted. The requester, if they own both accounts. */
  accepted_by: string | null;
  /** Not before this time; null: at once. */
  scheduled_time: string | null;
  /** When an unaccepted transfer is cancelled. */
  expires_at: string;
  /** Why it failed or was cancelled by the platform, one sentence; otherwise null. */
  reason: string | null;
  created_at: string;
  updated_at: string;
}
