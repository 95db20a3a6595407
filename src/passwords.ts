import { hash, verify } from '@node-rs/argon2';

/** OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };

/** Shortest password that a person may choose; NIST SP 800-63B asks for length and against composition rules. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 256;

/** The hash of a person's password: argon2id, PHC string format. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFKC'), COST);
}

export function verifyPassword(password: string, passwordHash: string): Promise<boolean> {
  return verify(passwordHash, password.normalize('NFKC'));
}
