import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import Type from 'typebox';
import type { Clock } from '../../lib/clock.ts';
import { SECOND_MS } from '../../lib/durations.ts';
import { messageOf } from '../../lib/error-message.ts';
import type { Randomness } from '../../lib/ids.ts';
import type { LoginRefused, WordPressLogin } from '../contract/wordpress-login.ts';
import { doesNotStart } from './does-not-start.ts';
import { parsePrinted } from './printed-json.ts';

const VALID_SECONDS = 60;
const TOKEN_BYTES = 32;
/** The script that stores a login. */
export const LOGIN_SCRIPT = 'create-login.php';
/** How long {@link LOGIN_SCRIPT} may take. */
export const LOGIN_WITHIN_MS = 20 * SECOND_MS;

export interface LoginFacts {
  installId: string;
  database: string;
  user: string | null;
  /** Runs {@link LOGIN_SCRIPT} with these arguments and returns what it prints. */
  run(args: string[]): Promise<string>;
  log: Logger;
  clock: Clock;
  randomness: Randomness;
}

const Printed = Type.Union([
  Type.Object({
    user: Type.String({ minLength: 1, maxLength: 60, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }),
  }),
  Type.Object({ refused: Type.Union([Type.Literal('unknown_user'), Type.Literal('no_administrator')]) }),
]);

/**
 * Creates a login (docs/decisions/wordpress.md). The database keeps a hash of the token and the database's name. A leaked database
 * signs no one in, nor does a copy of the row in another install.
 */
export async function createLogin(facts: LoginFacts): Promise<WordPressLogin | LoginRefused> {
  const { installId, database, user, run, log, clock, randomness } = facts;
  const token = randomness.bytes(TOKEN_BYTES).toString('base64url');
  const hash = createHash('sha256').update(`${database} ${token}`).digest('hex');
  const expires = Math.floor(clock.now().getTime() / SECOND_MS) + VALID_SECONDS;
  let output: string;
  try {
    // The hash and not the token, because processes can see the arguments of others.
    output = await run([`homeport_login_${hash}`, String(expires), ...(user === null ? [] : [user])]);
  } catch (err) {
    log.warn({ err, install: installId }, 'could not create a login to WordPress');
    return notRunning(messageOf(err));
  }
  const printed = parsePrinted(Printed, output);
  if (printed === null) return notRunning(output);
  if ('user' in printed) {
    return { token, expiresAt: new Date(expires * SECOND_MS).toISOString(), user: printed.user };
  }
  return printed.refused === 'unknown_user'
    ? { refused: 'unknown_user', reason: `WordPress has no user with the name "${user}".` }
    : { refused: 'website', reason: 'This WordPress has no administrator. Name another user.' };
}

function notRunning(said: string): LoginRefused {
  return { refused: 'website', reason: doesNotStart(said) };
}
