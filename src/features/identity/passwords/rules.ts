import { invalidValue } from '../../../lib/failures.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { isEasilyGuessed, type PasswordOwner } from './guesses.ts';
import { weaknessOf } from './weakness.ts';

/** Throws InvalidRequest where a password is one of those that are guessed first, RateLimited where many were. */
export async function requireFitPassword(
  limits: Pick<SignInLimits, 'newPassword'>,
  password: string,
  owner: PasswordOwner & { id: string },
  resource = 'Password',
): Promise<void> {
  await limits.newPassword(owner.id);
  const weakness = weaknessOf(password, owner.email);
  if (weakness) throw invalidValue(resource, 'password', weakness.code, weakness.message);
  if (await isEasilyGuessed(password, owner)) {
    throw invalidValue(
      resource,
      'password',
      'easily_guessed',
      'This password is easy to guess: put four or more words together that have nothing to do with each other or with you',
    );
  }
}
