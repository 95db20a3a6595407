import { hashVisitorPassword } from '../../../../hosting/policy/visitor-password.ts';
import type { Randomness } from '../../../../lib/ids.ts';
import type { Sealer } from '../../../../secrets/sealer.ts';

/** Without characters that look alike, because people read such passwords to each other. 32 characters: 5 bits each. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** A password of 80 random bits that is easy to hand over: `k7fq-zm3a-9wde-t2hc`. */
export function newVisitorPassword(random: Pick<Randomness, 'bytes'>): string {
  const characters = [...random.bytes(GROUPS * GROUP_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  return Array.from({ length: GROUPS }, (_, group) =>
    characters.slice(group * GROUP_LENGTH, (group + 1) * GROUP_LENGTH).join(''),
  ).join('-');
}

/**
 * A password as it is stored: sealed, because its owners hand it to others and must be able to read it again, and hashed for the
 * host.
 */
export async function storedPassword(
  sealer: Sealer,
  password: string,
): Promise<{ sealed_password: string; password_hash: string }> {
  return { sealed_password: sealer.seal(password), password_hash: await hashVisitorPassword(password) };
}
