import type { Caller } from '../../access/caller.ts';
import type { Queries } from '../../database/database.ts';
import type { NotificationLimits } from './notification-limits.ts';
import { nonMembers, withoutDuplicates } from './notification-recipients.ts';

/**
 * Runs `work` with the addresses to notify, each once. Counts those outside the install's account against the limits, unless the
 * work fails. Throws RateLimited.
 */
export async function withNotifications<Result>(
  { reader, limits }: { reader: Queries; limits: NotificationLimits },
  caller: Caller,
  installId: string,
  emails: readonly string[],
  work: (addresses: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const addresses = withoutDuplicates(emails);
  // The limits keep users from sending mail to strangers.
  const strangers = caller.isOperator ? [] : await nonMembers(reader, installId, addresses);
  const counted = await limits.strangers(caller.userId, strangers);
  try {
    return await work(addresses);
  } catch (error) {
    counted.refused();
    throw error;
  }
}
