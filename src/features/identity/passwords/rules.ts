import { invalidValue } from '../../../lib/failures.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { isEasilyGuessed, type PasswordOwner } from './guesses.ts';

/** Throws InvalidRequest where a password is one of those that are guessed first, RateLimited where many were. */
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
      'This password is easy to guess: put four or more words together that have nothing to do with each other or with you',
    );
  }
}

/** Shortest password that a person may choose; NIST SP 800-63B asks for length and against composition rules. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 256;

const FEWEST_CHARACTERS = 4;
const SHORTEST_LOCAL_PART = 4;

/** What makes a password one of those that are guessed first. */
export interface PasswordWeakness {
  code: 'too_simple' | 'like_email';
  message: string;
}

/**
 * What speaks against a password that a person chooses, whatever its length; null: nothing. NIST SP 800-63B, section 3.1.1.2, asks to
 * refuse what is expected: here the repeated and the person's own address, which take no list to know. What takes one:
 * guesses.ts.
 */
export function weaknessOf(password: string, email: string): PasswordWeakness | null {
  const text = password.normalize('NFKC').toLowerCase();
  if (new Set(text).size < FEWEST_CHARACTERS) {
    return {
      code: 'too_simple',
      message: `The password must be made of at least ${FEWEST_CHARACTERS} different characters`,
    };
  }
  const address = email.normalize('NFKC').toLowerCase();
  const localPart = address.slice(0, address.lastIndexOf('@'));
  const isMostly =
    localPart.length >= SHORTEST_LOCAL_PART && text.replaceAll(localPart, '').length < text.length / 2;
  if (!text.includes(address) && !isMostly) return null;
  return { code: 'like_email', message: 'The password must not be made of your e-mail address' };
}
