import type { Generated } from 'kysely';
import type { Role } from '../../lib/roles.ts';

export interface AccountRow {
  seq: Generated<number>;
  id: string;
  name: string;
  /** Kept by the transactions that create and delete sites; counting rows is what lists cost most. */
  site_count: Generated<number>;
  /** Kept by the transactions that create and delete installs. */
  install_count: Generated<number>;
  /** Whether its people must have a second factor to work in it through the portal. */
  requires_second_factor: Generated<boolean>;
  created_at: string;
}

export interface MembershipRow {
  seq: Generated<number>;
  account_id: string;
  user_id: string;
  role: Role;
  billing: boolean;
  invite_accepted: boolean;
  /** As whom the person was invited: until they accept, their own names are not shown. Null once they have. */
  invited_first_name: string | null;
  invited_last_name: string | null;
  created_at: string;
}

/** Gives a partial user one install. */
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
