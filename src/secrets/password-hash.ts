/** OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };

/** Of a password that nobody has, made at the same cost. */
const NOBODYS =
  '$argon2id$v=19$m=19456,t=2,p=1$cvzSw9bjtnw8adxcLfPInQ$73LF8CBVEWqquhuXn1eaO3hIte7slvqlS2XYwF2AweI';

/** The hash of a person's password: argon2id, PHC string format. */
export async function hashPassword(password: string): Promise<string> {
  const { hash } = await argon2();
  return hash(password.normalize('NFKC'), COST);
}

/** Whether the password is right. Takes as long where there is no hash to hold it against, and is false there. */
export async function verifyPassword(password: string, passwordHash: string | null): Promise<boolean> {
  const { verify } = await argon2();
  const right = await verify(passwordHash ?? NOBODYS, password.normalize('NFKC'));
  return right && passwordHash !== null;
}

/** Loaded when the first password is looked at: most processes never see one, and it costs memory. */
const argon2 = () => import('@node-rs/argon2');
