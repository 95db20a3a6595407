import type { Queries } from '../../../database/database.ts';
import { type InvalidRequest, invalidValue, Unauthenticated } from '../../../lib/failures.ts';
import { verifyPassword } from '../../../secrets/password-hash.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { findUserById, type UserWithPassword } from '../users/store.ts';

/** The present password of a signed-in user, in the field `current_password` of a resource. */
export interface PresentedPassword {
  userId: string;
  password: string;
  /** The resource of the request, for its errors. */
  resource: string;
}

/** Returns the user if the password is right. Throws InvalidRequest if it is wrong, RateLimited. */
export async function requirePresentPassword(
  queries: Queries,
  limits: Pick<SignInLimits, 'presentPassword'>,
  { userId, password, resource }: PresentedPassword,
): Promise<UserWithPassword> {
  const person = await findUserById(queries, userId);
  if (!person) throw new Unauthenticated('Authentication required');
  await limits.presentPassword(userId);
  if (!(await verifyPassword(password, person.password_hash))) throw wrongPresentPassword(resource);
  return person;
}

/** The error of a wrong present password. */
export function wrongPresentPassword(resource: string): InvalidRequest {
  return invalidValue(resource, 'current_password', 'wrong', 'The current password is wrong');
}
