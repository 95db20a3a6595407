import { invalidValue } from '../../failures.ts';
import { weaknessOf } from '../../passwords.ts';

/** Throws InvalidRequest where a password is one of those that are guessed first. */
export function requireFitPassword(password: string, email: string, resource = 'Password'): void {
  const weakness = weaknessOf(password, email);
  if (weakness) throw invalidValue(resource, 'password', weakness.code, weakness.message);
}
