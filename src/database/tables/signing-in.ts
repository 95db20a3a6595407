import type { Generated } from 'kysely';

/** The secret of a user's one-time codes (RFC 6238). */
export interface SecondFactorRow {
  user_id: string;
  /** Base32, sealed. */
  sealed_secret: string;
  /** Null during enrolment, when it has no effect yet. */
  confirmed_at: string | null;
  /** The time step of the last accepted code. That code and earlier ones are refused. */
  last_step: number | null;
  created_at: string;
}

/** A passkey of a user (WebAuthn). */
export interface PasskeyRow {
  seq: Generated<number>;
  id: string;
  user_id: string;
  /** The id that the authenticator gave it, base64url. */
  credential_id: string;
  /** COSE, base64url. */
  public_key: string;
  /** Signatures made, if the authenticator counts them; otherwise 0. */
  counter: number;
  /** How browsers reach it, separated by spaces: a hint of the authenticator. */
  transports: string;
  name: string;
  /** A copy is in a password manager. */
  synced: boolean;
  /** To the minute. */
  last_used_at: string | null;
  created_at: string;
}

/** A challenge that a passkey has answered and that must not be accepted again. */
export interface SpentPasskeyChallengeRow {
  /** SHA-256, hex. */
  challenge_hash: string;
  expires_at: string;
}

export interface RecoveryCodeRow {
  user_id: string;
  /** SHA-256, hex. */
  code_hash: string;
  used_at: string | null;
}

/** One browser session of a user. */
export interface SessionRow {
  seq: Generated<number>;
  id: string;
  /** SHA-256 of the cookie value, hex. */
  token_hash: string;
  user_id: string;
  /** The password was correct; only the second factor is accepted now. */
  awaits_second_factor: boolean;
  /** Wrong codes; the session is deleted after a few. */
  wrong_codes: Generated<number>;
  address: string;
  user_agent: string | null;
  /** To the minute. */
  last_seen_at: string;
  expires_at: string;
  created_at: string;
}

/** A browser that once completed a sign-in, whether the session still exists or not. */
export interface KnownDeviceRow {
  seq: Generated<number>;
  id: string;
  /** SHA-256 of its cookie value, hex. */
  token_hash: string;
  user_id: string;
  /** The session that registered it, which may have expired. */
  session_id: string;
  expires_at: string;
  created_at: string;
}

/** An email address that a user has requested. */
export interface EmailChangeRow {
  user_id: string;
  id: string;
  email: string;
  /** SHA-256 of the token in the link, hex; null until the email is created. */
  token_hash: string | null;
  expires_at: string;
  created_at: string;
}

/** A link to set a password without knowing the old one. */
export interface PasswordLinkRow {
  /** SHA-256 of the token in the link, hex. */
  token_hash: string;
  user_id: string;
  purpose: 'first' | 'reset';
  expires_at: string;
  created_at: string;
}
