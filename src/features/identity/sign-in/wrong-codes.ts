import { portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { addWrongCode } from '../second-factor/store.ts';
import { MAX_WRONG_CODES } from '../sessions/state.ts';
import { countWrongCode } from '../sessions/store.ts';
import { findUserById } from '../users/store.ts';

/** The user is notified after each of this many wrong codes since the last right one, over all sessions. */
const NOTIFY_AFTER = 5;

/** Counts wrong codes at sign-in. Many of them mean that someone else knows the password, so the user is notified. */
export function createWrongCodeCounter({ database, activity }: Platform, limits: SignInLimits) {
  async function count({ id, userId }: Session): Promise<number> {
    return database.write(async ({ queries }) => {
      // The same lock order as for a right code.
      const counted = await addWrongCode(queries, userId);
      await countWrongCode(queries, id, MAX_WRONG_CODES);
      return counted;
    });
  }

  return async (session: Session, origin: RequestOrigin): Promise<void> => {
    const { userId } = session;
    const counted = await count(session);
    if (counted === 0 || counted % NOTIFY_AFTER !== 0) return;
    if (!(await limits.allowWrongCodesNotice(userId))) return;
    await database.write(async (transaction) => {
      const person = await findUserById(transaction.queries, userId);
      if (!person) return;
      await activity.recordForUser(
        transaction,
        { userId: null, origin: portalCaller(userId, origin).origin },
        { userId },
        {
          action: 'second_factor.refuse',
          subject: { id: userId, name: person.email },
          details: { wrong_codes: counted },
        },
      );
    });
  };
}
