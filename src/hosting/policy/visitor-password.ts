import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);

/** The edge computes these for a login while other visitors wait, so they are far fewer than for accounts. */
export const PASSWORD_ROUNDS = 10_000;
/** The most that the edge computes. */
export const MOST_PASSWORD_ROUNDS = 20_000;
const HASH_BYTES = 32;
const SALT_BYTES = 16;
/** A longer password is never right. In bytes of UTF-8. */
export const LONGEST_VISITOR_PASSWORD = 256;

/** A hash of {@link hashVisitorPassword}, with at most {@link MOST_PASSWORD_ROUNDS}. */
export const VISITOR_PASSWORD_HASH =
  '^pbkdf2-sha256\\$(?:[1-9][0-9]{0,3}|1[0-9]{4}|20000)\\$[0-9a-f]{32}\\$[0-9a-f]{64}$';

/** The hash of a password that visitors share, for the row of a protected website. */
export async function hashVisitorPassword(password: string, salt = randomBytes(SALT_BYTES)): Promise<string> {
  const hash = await derive(password, salt, PASSWORD_ROUNDS, HASH_BYTES, 'sha256');
  return `pbkdf2-sha256$${PASSWORD_ROUNDS}$${salt.toString('hex')}$${hash.toString('hex')}`;
}

/** Whether a password belongs to a hash of {@link hashVisitorPassword}. `null` computes one of nothing, for an unknown user. */
export async function isVisitorPassword(hash: string | null, password: string): Promise<boolean> {
  const [, rounds, salt = '', expected = ''] = hash?.split('$') ?? [];
  if (Buffer.byteLength(password) > LONGEST_VISITOR_PASSWORD) return false;
  const derived = await derive(
    password,
    Buffer.from(salt, 'hex'),
    Number(rounds ?? PASSWORD_ROUNDS),
    HASH_BYTES,
    'sha256',
  );
  const wanted = Buffer.from(expected, 'hex');
  return wanted.length === HASH_BYTES && timingSafeEqual(derived, wanted);
}
