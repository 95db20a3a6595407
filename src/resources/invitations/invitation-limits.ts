import { hashSecret } from '../../credential-secret.ts';
import { RateLimited } from '../../failures.ts';
import type { AttemptCounter } from '../sessions/sign-in-limits.ts';
import { emailKey } from '../user/email-key.ts';

/** How many people somebody may have invited, so that no account serves to send mail to strangers. */
export interface InvitationLimits {
  /** Counts one, before it is looked at, so that many at once are no way round. Throws RateLimited. */
  invitation(by: string, email: string): Promise<CountedInvitation>;
}

interface CountedInvitation {
  /** Nobody was invited: it does not count. */
  refused(): void;
}

const HOUR = 60 * 60;
const BY_PERSON = 60;
/** Over all who invite. */
const TO_ADDRESS = 5;

export function createInvitationLimits(counter: AttemptCounter): InvitationLimits {
  return {
    async invitation(by, email) {
      const spent: string[] = [];
      const refused = () => {
        for (const key of spent.splice(0)) counter.refund(key, HOUR);
      };
      for (const [key, limit] of [
        [`invitations:by:${by}`, BY_PERSON],
        // A key must not be whatever somebody types.
        [`invitations:to:${hashSecret(emailKey(email))}`, TO_ADDRESS],
      ] as const) {
        const { allowed, resetSeconds } = await counter.spend(key, limit, HOUR);
        if (!allowed) {
          refused();
          throw new RateLimited(resetSeconds, 'Too many invitations - please wait and try again');
        }
        spent.push(key);
      }
      return { refused };
    },
  };
}
