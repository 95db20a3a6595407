import type { Generated } from 'kysely';

/** What makes a person's one-time codes (RFC 6238). */
export interface SecondFactorRow {
  user_id: string;
  /** Base32, sealed. */
  sealed_secret: string;
  /** Null while it is only being enrolled: it counts for nothing yet. */
  confirmed_at: string | null;
  /** The time step of the last code that was taken: it and earlier ones are refused. */
  last_step: number | null;
  /** Codes that followed a right password and were not right, since the last that was. */
  wrong_codes: Generated<number>;
  created_at: string;
}

export interface RecoveryCodeRow {
  user_id: string;
  /** SHA-256, hex. */
  code_hash: string;
  used_at: string | null;
}

/** One browser that somebody signed in with. */
export interface SessionRow {
  seq: Generated<number>;
  id: string;
  /** SHA-256 of what the cookie holds, hex. */
  token_hash: string;
  user_id: string;
  /** The password was right; nothing but the second factor is taken. */
  awaits_second_factor: boolean;
  /** Codes that were not right; after a few the session is gone. */
  wrong_codes: Generated<number>;
  address: string;
  user_agent: string | null;
  /** To the minute. */
  last_seen_at: string;
  expires_at: string;
  created_at: string;
}

/** A browser that somebody has wholly signed in with, whether they still are or not. */
export interface KnownDeviceRow {
  seq: Generated<number>;
  id: string;
  /** SHA-256 of what its cookie holds, hex. */
  token_hash: string;
  user_id: string;
  /** The session that made it known; it may have ended by itself. */
  session_id: string;
  expires_at: string;
  created_at: string;
}

/** An address that a person wants to have. */
export interface EmailChangeRow {
  user_id: string;
  id: string;
  email: string;
  /** SHA-256 of the token in the link, hex; null until there is a mail. */
  token_hash: string | null;
  expires_at: string;
  created_at: string;
}

/** A link with which somebody sets a password without knowing one. */
export interface PasswordLinkRow {
  /** SHA-256 of the token in the link, hex. */
  token_hash: string;
  user_id: string;
  purpose: 'first' | 'reset';
  expires_at: string;
  created_at: string;
}
