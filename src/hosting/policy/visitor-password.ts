import { pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);

/** The edge computes this for a login while other visitors wait, so it is far less than for accounts. */
const ITERATIONS = 10_000;
const HASH_BYTES = 32;
const SALT_BYTES = 16;

/** A hash of {@link hashVisitorPassword}. */
export const VISITOR_PASSWORD_HASH = '^pbkdf2-sha256\\$[1-9][0-9]{0,4}\\$[0-9a-f]{32}\\$[0-9a-f]{64}$';

/** The hash of a password that visitors share, for the row of a protected website. */
export async function hashVisitorPassword(password: string, salt = randomBytes(SALT_BYTES)): Promise<string> {
  const hash = await derive(password, salt, ITERATIONS, HASH_BYTES, 'sha256');
  return `pbkdf2-sha256$${ITERATIONS}$${salt.toString('hex')}$${hash.toString('hex')}`;
}
