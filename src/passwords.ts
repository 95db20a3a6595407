/** OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };

/** Shortest password that a person may choose; NIST SP 800-63B asks for length and against composition rules. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 256;

/** The hash of a person's password: argon2id, PHC string format. */
export async function hashPassword(password: string): Promise<string> {
  const { hash } = await argon2();
  return hash(password.normalize('NFKC'), COST);
}

export async function verifyPassword(password: string, passwordHash: string): Promise<boolean> {
  const { verify } = await argon2();
  return verify(passwordHash, password.normalize('NFKC'));
}

/** Loaded when the first password is looked at: most processes never see one, and it costs memory. */
const argon2 = () => import('@node-rs/argon2');
