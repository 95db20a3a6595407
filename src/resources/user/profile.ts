import type { Static } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import { NotFound } from '../../failures.ts';
import type { Platform } from '../../platform.ts';
import type { signedInUserSchema } from '../sessions/schema.ts';
import { findSignedInUser, updateUser } from './store.ts';

export interface ProfileChange {
  first_name?: string;
  last_name?: string;
  phone?: string | null;
}

export interface ProfileService {
  /** Throws NotFound. */
  update(caller: Caller, change: ProfileChange): Promise<Static<typeof signedInUserSchema>>;
}

export function createProfileService({ database, activity }: Platform): ProfileService {
  return {
    update: (caller, change) =>
      database.write(async (transaction) => {
        const { queries } = transaction;
        const { userId } = caller;
        const known = withoutBlanks(change);
        if (Object.keys(known).length > 0) await updateUser(queries, userId, known);
        const user = await findSignedInUser(queries, userId);
        if (!user) throw new NotFound();
        if (Object.keys(known).length > 0) {
          await activity.recordOfPerson(
            transaction,
            caller,
            { userId },
            { action: 'profile.update', subject: { id: userId, name: user.email } },
          );
        }
        return user;
      }),
  };
}

/** White space around a name says nothing, and a telephone number of nothing else is none. */
function withoutBlanks({ first_name, last_name, phone }: ProfileChange): ProfileChange {
  return {
    ...(first_name === undefined ? {} : { first_name: first_name.trim() }),
    ...(last_name === undefined ? {} : { last_name: last_name.trim() }),
    ...(phone === undefined ? {} : { phone: phone?.trim() || null }),
  };
}
