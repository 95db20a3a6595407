/** OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };

/** The hash of a discarded password at the same cost, so that unknown users take as long to verify. */
const DUMMY_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$cvzSw9bjtnw8adxcLfPInQ$73LF8CBVEWqquhuXn1eaO3hIte7slvqlS2XYwF2AweI';

/** Hashes a password: argon2id, PHC string format. */
export async function hashPassword(password: string): Promise<string> {
  const { hash } = await argon2();
  return hash(password.normalize('NFKC'), COST);
}

/** Whether the password is right. Without a hash it takes as long and returns false. */
export async function verifyPassword(password: string, passwordHash: string | null): Promise<boolean> {
  const { verify } = await argon2();
  const right = await verify(passwordHash ?? DUMMY_HASH, password.normalize('NFKC'));
  return right && passwordHash !== null;
}

/** Loaded on first use: most processes never verify a password, and it costs memory. */
const argon2 = () => import('@node-rs/argon2');
