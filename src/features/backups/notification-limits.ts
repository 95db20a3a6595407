import { hashSecret } from '../../secrets/random-secret.ts';
import { type CountedMails, countMails } from '../identity/limits/mail-limits.ts';
import type { AttemptCounter } from '../identity/limits/sign-in-limits.ts';
import { emailKey } from '../identity/users/store.ts';

/** How often strangers may be told of backups: any address can be named, and whoever reads it has not asked for it. */
export interface NotificationLimits {
  /** Throws RateLimited. */
  strangers(by: string, addresses: readonly string[]): Promise<CountedMails>;
}

/** Mails an hour that one person may have sent, */
const BY_PERSON = 100;
/** and one address may get, over all who ask. */
const TO_ADDRESS = 20;

export function createNotificationLimits(counter: AttemptCounter): NotificationLimits {
  return {
    strangers: (by, addresses) =>
      countMails(
        counter,
        addresses.flatMap((address) => [
          [`backup-mails:by:${by}`, BY_PERSON] as const,
          [`backup-mails:to:${hashSecret(emailKey(address))}`, TO_ADDRESS] as const,
        ]),
        'Too many notification e-mails to people outside the account - please wait and try again',
      ),
  };
}
