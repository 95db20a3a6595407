import { HOUR_SECONDS } from '../../../lib/durations.ts';
import { RateLimited } from '../../../lib/failures.ts';
import { hashSecret } from '../../../secrets/random-secret.ts';
import { emailKey } from '../users/store.ts';
import type { AttemptCounter } from './sign-in-limits.ts';

/** Mails that were counted before they were asked for. */
export interface CountedMails {
  /** None is sent: they do not count. */
  refused(): void;
}

/**
 * Counts one mail for each key, of which so many are allowed an hour; all or none. Before anything is looked at, so that
 * many requests at once are no way round. Throws RateLimited with `sentence`.
 */
export async function countMails(
  counter: AttemptCounter,
  counted: readonly (readonly [key: string, limit: number])[],
  sentence: string,
): Promise<CountedMails> {
  const spent: string[] = [];
  const refused = () => {
    for (const key of spent.splice(0)) counter.refund(key, HOUR_SECONDS);
  };
  for (const [key, limit] of counted) {
    const { allowed, resetSeconds } = await counter.spend(key, limit, HOUR_SECONDS);
    if (!allowed) {
      refused();
      throw new RateLimited(resetSeconds, sentence);
    }
    spent.push(key);
  }
  return { refused };
}

/** How many people somebody may have invited, so that no account serves to send mail to strangers. */
export interface InvitationLimits {
  /** Throws RateLimited. */
  invitation(by: string, email: string): Promise<CountedMails>;
}

const BY_PERSON = 60;
/** Over all who invite. */
const TO_ADDRESS = 5;

export function createInvitationLimits(counter: AttemptCounter): InvitationLimits {
  return {
    invitation: (by, email) =>
      countMails(
        counter,
        [
          [`invitations:by:${by}`, BY_PERSON],
          // A key must not be whatever somebody types.
          [`invitations:to:${hashSecret(emailKey(email))}`, TO_ADDRESS],
        ],
        'Too many invitations - please wait and try again',
      ),
  };
}
