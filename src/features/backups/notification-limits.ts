import { RATE_LIMITS, type RateCounter } from '../../access/rate-limits.ts';
import { hashSecret } from '../../secrets/random-secret.ts';
import { type CountedMails, countMails } from '../identity/limits/mail-limits.ts';
import { emailKey } from '../identity/users/store.ts';

/** Rate limits for backup mails to strangers: users can enter any address, and its owner may not want the mail. */
export interface NotificationLimits {
  /** Throws RateLimited. */
  strangers(by: string, addresses: readonly string[]): Promise<CountedMails>;
}

export function createNotificationLimits(counter: RateCounter): NotificationLimits {
  return {
    strangers: (by, addresses) =>
      countMails(
        counter,
        addresses.flatMap((address) => [
          [RATE_LIMITS.backupNoticesByUser, by] as const,
          [RATE_LIMITS.backupNoticesByEmail, hashSecret(emailKey(address))] as const,
        ]),
        'Too many notification e-mails to people outside the account',
      ),
  };
}
