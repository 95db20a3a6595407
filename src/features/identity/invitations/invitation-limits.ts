import { hashSecret } from '../../../secrets/random-secret.ts';
import { type CountedMails, countMails } from '../limits/mail-limits.ts';
import type { AttemptCounter } from '../limits/sign-in-limits.ts';
import { emailKey } from '../users/email-key.ts';

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
