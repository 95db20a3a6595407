import {
  type FixedRateLimit,
  RATE_LIMITS,
  type RateCounter,
  rateLimitKey,
} from '../../../access/rate-limits.ts';
import { RateLimited } from '../../../lib/failures.ts';
import { hashSecret } from '../../../secrets/random-secret.ts';
import { emailKey } from '../users/store.ts';

/** Mails counted before they are queued. */
export interface CountedMails {
  /** Takes the count back, because no mail is sent. */
  refused(): void;
}

/**
 * Counts one mail against each limit, or against none if one of them is reached. Callers count before they check anything else, so
 * that parallel requests cannot exceed a limit. Throws RateLimited with `sentence`.
 */
export async function countMails(
  counter: RateCounter,
  counted: readonly (readonly [FixedRateLimit, subject: string])[],
  sentence: string,
): Promise<CountedMails> {
  const spent: { key: string; windowSeconds: number }[] = [];
  const refused = () => {
    for (const { key, windowSeconds } of spent.splice(0)) counter.refund(key, windowSeconds);
  };
  for (const [limit, subject] of counted) {
    const { size, windowSeconds } = limit;
    const key = rateLimitKey(limit, subject);
    const { allowed, resetSeconds } = await counter.spend(key, size, windowSeconds);
    if (!allowed) {
      refused();
      throw new RateLimited(resetSeconds, sentence);
    }
    spent.push({ key, windowSeconds });
  }
  return { refused };
}

/** Limits invitations, so that accounts cannot be used to mail strangers. */
export interface InvitationLimits {
  /** Counts an invitation. Throws RateLimited. */
  invitation(by: string, email: string): Promise<CountedMails>;
}

export function createInvitationLimits(counter: RateCounter): InvitationLimits {
  return {
    invitation: (by, email) =>
      countMails(
        counter,
        [
          [RATE_LIMITS.invitationsByUser, by],
          // Hashed, since users choose the address freely.
          [RATE_LIMITS.invitationsByEmail, hashSecret(emailKey(email))],
        ],
        'Too many invitations',
      ),
  };
}
