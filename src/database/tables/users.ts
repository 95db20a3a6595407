import type { ColumnType, Generated } from 'kysely';

export interface UserRow {
  seq: Generated<number>;
  id: string;
  email: string;
  /** The address in lower case, so capitalisation does not create a second user. */
  email_key: string;
  first_name: string;
  last_name: string;
  phone: string | null;
  /** argon2id, PHC string format; null until the first invitation is accepted. */
  password_hash: string | null;
  /** The user has one-time codes or passkeys, so the password alone does not sign in. */
  mfa_enabled: Generated<boolean>;
  /** Wrong second factors after a correct password since the last correct one. */
  wrong_codes: Generated<number>;
  /** An operator of the platform: may move installs that they see. */
  is_operator: Generated<boolean>;
  created_at: string;
}

export interface CredentialRow {
  seq: Generated<number>;
  /** The API username. */
  id: string;
  user_id: string;
  name: string;
  /** SHA-256 of the API password, hex. The password is random, so a slow hash would protect nothing. */
  password_hash: string;
  expires_at: string | null;
  revoked_at: string | null;
  /** To the minute. */
  last_used_at: string | null;
  /** Limits on the user's rights: read-only, one account, or some installs of that account. */
  read_only: Generated<boolean>;
  account_id: Generated<string | null>;
  /** Array of ids. Ids of deleted installs have no effect. */
  install_ids: ColumnType<unknown, string | null | undefined, string | null>;
  created_at: string;
}

export interface SshKeyRow {
  seq: Generated<number>;
  id: string;
  user_id: string;
  /** Type and base64, without the comment. */
  public_key: string;
  comment: string;
  fingerprint_md5: string;
  fingerprint_sha256: string;
  created_at: string;
}
