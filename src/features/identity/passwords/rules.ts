import { invalidValue } from '../../../lib/failures.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { isEasilyGuessed, type PasswordOwner } from './guesses.ts';

/** Throws InvalidRequest for an easily guessed password, RateLimited after many attempts. */
export async function requireStrongPassword(
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
      'This password is easy to guess. Combine four or more words that are unrelated to each other and to you',
    );
  }
}

/** Shortest password that a user may choose. NIST SP 800-63B recommends length instead of composition rules. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 256;

const FEWEST_CHARACTERS = 4;
const SHORTEST_LOCAL_PART = 4;

/** A reason for refusing a password. */
export interface PasswordWeakness {
  code: 'too_simple' | 'like_email';
  message: string;
}

/**
 * The weakness of a password, or null. NIST SP 800-63B, section 3.1.1.2, requires refusing expected passwords: here
 * repetitions and the user's own address. guesses.ts checks the dictionaries.
 */
export function weaknessOf(password: string, email: string): PasswordWeakness | null {
  const text = password.normalize('NFKC').toLowerCase();
  if (new Set(text).size < FEWEST_CHARACTERS) {
    return {
      code: 'too_simple',
      message: `The password must contain at least ${FEWEST_CHARACTERS} different characters`,
    };
  }
  const address = email.normalize('NFKC').toLowerCase();
  const localPart = address.slice(0, address.lastIndexOf('@'));
  const isMostly =
    localPart.length >= SHORTEST_LOCAL_PART && text.replaceAll(localPart, '').length < text.length / 2;
  if (!text.includes(address) && !isMostly) return null;
  return { code: 'like_email', message: 'The password must not consist of your email address' };
}
