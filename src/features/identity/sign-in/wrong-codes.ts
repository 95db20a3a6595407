import { portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { addWrongCode } from '../second-factor/store.ts';
import { WRONG_CODES } from '../sessions/state.ts';
import { countWrongCode } from '../sessions/store.ts';
import { findUserById } from '../users/store.ts';

/** Each time that so many have followed a right password since the last right one, over all sessions, its person is told. */
const TOLD_AFTER = 5;

/** Counts a wrong code of a session that awaits the second factor. Who sends many of them knows the password, which its person is told. */
export function wrongCodes({ database, activity }: Platform, limits: SignInLimits) {
  async function count({ id, userId }: Session): Promise<number> {
    return database.write(async ({ queries }) => {
      // In the order in which a right code takes hold of both.
      const counted = await addWrongCode(queries, userId);
      await countWrongCode(queries, id, WRONG_CODES);
      return counted;
    });
  }

  return async (session: Session, origin: RequestOrigin): Promise<void> => {
    const { userId } = session;
    const counted = await count(session);
    if (counted === 0 || counted % TOLD_AFTER !== 0) return;
    if (!(await limits.mayTellOfWrongCodes(userId))) return;
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
