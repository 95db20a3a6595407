import { HOUR_SECONDS } from '../../../lib/durations.ts';
import type { AttemptCounter } from '../../identity/limits/sign-in-limits.ts';
import type { AccessEvent } from './jobs.ts';

/** Of one kind, to one person: who makes credentials in a loop, or has taken a session over, floods no mailbox. */
const MOST_AN_HOUR = 5;

export interface NoticeLimits {
  /** Counts a mail. Returns whether it may be sent. */
  mayTell(userId: string, kind: AccessEvent['kind']): Promise<boolean>;
}

export function createNoticeLimits(counter: AttemptCounter): NoticeLimits {
  return {
    async mayTell(userId, kind) {
      const { allowed } = await counter.spend(`notices:${userId}:${kind}`, MOST_AN_HOUR, HOUR_SECONDS);
      return allowed;
    },
  };
}
