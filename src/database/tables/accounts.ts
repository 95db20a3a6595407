import type { Generated } from 'kysely';
import type { Role } from '../../lib/roles.ts';
import type { GeneratedJson } from './json.ts';

export interface AccountRow {
  seq: Generated<number>;
  id: string;
  name: string;
  /** A short name that its owners chose; null: the name. */
  nickname: Generated<string | null>;
  /** Maintained by the transactions that create and delete sites, because counting rows would be the most expensive part of lists. */
  site_count: Generated<number>;
  /** Maintained by the transactions that create and delete installs. */
  install_count: Generated<number>;
  /** Whether its users need a second factor to use it in the portal. */
  requires_second_factor: Generated<boolean>;
  /** Array of labels that the hosts of its installs need. */
  host_labels: GeneratedJson;
  created_at: string;
}

export interface MembershipRow {
  seq: Generated<number>;
  account_id: string;
  user_id: string;
  role: Role;
  billing: boolean;
  invite_accepted: boolean;
  /** The name in the invitation. The user's own name is hidden until they accept; null afterwards. */
  invited_first_name: string | null;
  invited_last_name: string | null;
  created_at: string;
}

/** Grants a partial user access to one install. */
export interface InstallGrantRow {
  install_id: string;
  account_id: string;
  user_id: string;
}

export interface InvitationRow {
  /** SHA-256 of the token in the link, hex. */
  token_hash: string;
  account_id: string;
  user_id: string;
  expires_at: string;
  created_at: string;
}
