import type { SessionStage } from '../../../access/session.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';

/** A session ends after this time without use. */
export const IDLE_MS = 12 * HOUR_MS;
/** A session ends at most this long after its start. */
export const MAX_AGE_MS = 30 * DAY_MS;
/**
 * An expired session is kept for this time, and refused. The portal keeps the page of an expired session, but not of one that was ended,
 * which is deleted.
 */
export const KEEP_EXPIRED_MS = 7 * DAY_MS;
/** Time to enter the second factor. */
export const SECOND_FACTOR_MS = 10 * MINUTE_MS;
/** Wrong codes that end a session before its second factor. */
export const MAX_WRONG_CODES = 5;

/** The stored times that determine the end of a session; ISO 8601 in UTC. */
export interface Lifetime {
  last_seen_at: string;
  expires_at: string;
}

/** When a session ends without further use. */
export function endOf({ last_seen_at, expires_at }: Lifetime): string {
  const idle = new Date(Date.parse(last_seen_at) + IDLE_MS).toISOString();
  return idle < expires_at ? idle : expires_at;
}

/** When the cookie of a session ends, so that the browser can ask about the session after it expired. */
export const cookieEndOf = ({ expires_at }: Pick<Lifetime, 'expires_at'>): Date =>
  new Date(Date.parse(expires_at) + KEEP_EXPIRED_MS);

/** Uses are stored late, so a session that looks idle may be in use. */
const IDLE_MARGIN_MS = HOUR_MS;

/** The latest `last_seen_at` of sessions that have certainly ended by idleness. */
export function surelyIdleSince(now: string): string {
  return new Date(Date.parse(now) - IDLE_MS - IDLE_MARGIN_MS).toISOString();
}

/** A user's second factor, and whether an account requires one. */
export interface FactorState {
  /** The user has one-time codes or passkeys. */
  mfa_enabled: boolean;
  /** An account of the user that requires one; null: none. */
  required_by: string | null;
}

/** The stage of a session. Computed for each request, so that a new requirement of an account applies at once. */
export function stageOf({
  awaits_second_factor,
  mfa_enabled,
  required_by,
}: FactorState & { awaits_second_factor: boolean }): SessionStage {
  if (awaits_second_factor) return 'second_factor';
  return required_by !== null && !mfa_enabled ? 'enrolment' : 'full';
}
