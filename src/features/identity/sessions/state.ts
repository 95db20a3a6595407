import type { SessionStage } from '../../../access/session.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';

/** A session that nobody has used for so long ends. */
export const IDLE_MS = 12 * HOUR_MS;
/** However much it is used, it ends so long after it began. */
export const LONGEST_MS = 30 * DAY_MS;
/** So long the second factor is awaited, */
export const AWAITING_MS = 10 * MINUTE_MS;
/** and so many wrong codes end it. */
export const WRONG_CODES = 5;

/** What decides whether a session still lives; times as they are stored. */
export interface Lifetime {
  last_seen_at: string;
  expires_at: string;
}

/** When it ends if it is not used again. */
export function endOf({ last_seen_at, expires_at }: Lifetime): string {
  const idle = new Date(Date.parse(last_seen_at) + IDLE_MS).toISOString();
  return idle < expires_at ? idle : expires_at;
}

/** Uses are written down late, so a session that nobody seems to use any more may be in use again. */
const DOUBT_MS = HOUR_MS;

/** The latest `last_seen_at` of a session that has surely ended by not being used. */
export function surelyIdleSince(now: string): string {
  return new Date(Date.parse(now) - IDLE_MS - DOUBT_MS).toISOString();
}

/** How a person stands to second factors. */
export interface FactorState {
  /** Since when theirs is switched on; null: none is. */
  confirmed_at: string | null;
  /** An account of theirs that demands one; null: none does. */
  demanded_by: string | null;
}

/** How far a session has come. Worked out anew for each request: what an account demands holds at once. */
export function stageOf({
  awaits_second_factor,
  confirmed_at,
  demanded_by,
}: FactorState & { awaits_second_factor: boolean }): SessionStage {
  if (awaits_second_factor) return 'second_factor';
  return demanded_by !== null && confirmed_at === null ? 'enrolment' : 'full';
}
