import type { Static } from 'typebox';
import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { changeFor, readerFor } from '../../../access/request-transactions.ts';
import { lockRow } from '../../../database/lock.ts';
import { uniqueViolation } from '../../../database/unique-violation.ts';
import { NotFound, taken } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { signedInUserSchema } from '../sessions/schema.ts';
import { changeEmailAddress } from '../users/mailed-links-store.ts';
import { findUserProfile, updateUser } from '../users/store.ts';

export interface ProfileChange {
  first_name?: string;
  last_name?: string;
  phone?: string | null;
}

export interface ProfileService {
  /** The caller's own profile. Throws NotFound. */
  read(caller: Caller): Promise<SignedInUser>;
  /** Throws NotFound. */
  update(caller: Caller, change: ProfileChange): Promise<SignedInUser>;
  /**
   * For the command line: changes names and email address. If the address changes, links mailed to the old one stop
   * working. Throws NotFound; InvalidRequest if another user has the address.
   */
  changeByOperator(
    userId: string,
    change: { email?: string; first_name?: string; last_name?: string; is_operator?: boolean },
  ): Promise<SignedInUser>;
}

type SignedInUser = Static<typeof signedInUserSchema>;

export function createProfileService({ database, activity }: Platform): ProfileService {
  const changeByOperator: ProfileService['changeByOperator'] = async (
    userId,
    { email, is_operator, ...names },
  ) =>
    database
      .write(async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'users', userId);
        const before = await findUserProfile(queries, userId);
        if (!before) throw new NotFound();
        if (is_operator !== undefined) await updateUser(queries, userId, { is_operator });
        const user = { ...before, ...names, ...(email === undefined ? {} : { email }) };
        if (isSame(before, user) && is_operator === undefined) return user;
        const moves = user.email !== before.email;
        if (Object.keys(names).length > 0) await updateUser(queries, userId, names);
        if (moves) await changeEmailAddress(queries, userId, user.email);
        await activity.recordForUser(
          transaction,
          OPERATOR,
          { userId },
          {
            action: 'profile.update',
            subject: { id: userId, name: user.email },
            details: {
              ...(moves ? { from: before.email, to: user.email } : {}),
              ...(is_operator === undefined ? {} : { is_operator }),
            },
          },
        );
        return user;
      })
      .catch((error: unknown) => {
        if (uniqueViolation(error) !== 'users.email_key') throw error;
        throw taken('User', 'email', `Another user has the address ${email}`);
      });

  return {
    changeByOperator,
    async read(caller) {
      const user = await findUserProfile(readerFor(database, caller), caller.userId);
      if (!user) throw new NotFound();
      return user;
    },
    update: (caller, change) =>
      changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        const { userId } = caller;
        const known = withoutBlanks(change);
        await lockRow(transaction, 'users', userId);
        const before = await findUserProfile(queries, userId);
        if (!before) throw new NotFound();
        const user = { ...before, ...known };
        if (isSame(before, user)) return user;
        await updateUser(queries, userId, known);
        await activity.recordForUser(
          transaction,
          caller,
          { userId },
          { action: 'profile.update', subject: { id: userId, name: user.email } },
        );
        return user;
      }),
  };
}

function isSame(before: SignedInUser, now: SignedInUser): boolean {
  return (
    before.email === now.email &&
    before.first_name === now.first_name &&
    before.last_name === now.last_name &&
    before.phone === now.phone
  );
}

/** Trims names, and turns a blank telephone number into null. */
function withoutBlanks({ first_name, last_name, phone }: ProfileChange): ProfileChange {
  return {
    ...(first_name === undefined ? {} : { first_name: first_name.trim() }),
    ...(last_name === undefined ? {} : { last_name: last_name.trim() }),
    ...(phone === undefined ? {} : { phone: phone?.trim() || null }),
  };
}
