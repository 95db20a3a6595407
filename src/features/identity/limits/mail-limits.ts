import {
  type FixedRateLimit,
  RATE_LIMITS,
  type RateCounter,
  rateLimitKey,
} from '../../../access/rate-limits.ts';
import { RateLimited } from '../../../lib/failures.ts';
import { hashSecret } from '../../../secrets/random-secret.ts';
import { emailKey } from '../users/store.ts';

/** Mails that were counted before they were asked for. */
export interface CountedMails {
  /** None is sent: they do not count. */
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

/** How many people somebody may have invited, so that no account serves to send mail to strangers. */
export interface InvitationLimits {
  /** Throws RateLimited. */
  invitation(by: string, email: string): Promise<CountedMails>;
}

export function createInvitationLimits(counter: RateCounter): InvitationLimits {
  return {
    invitation: (by, email) =>
      countMails(
        counter,
        [
          [RATE_LIMITS.invitationsByUser, by],
          // A key must not be whatever somebody types.
          [RATE_LIMITS.invitationsByEmail, hashSecret(emailKey(email))],
        ],
        'Too many invitations - please wait and try again',
      ),
  };
}
