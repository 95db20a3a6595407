import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import Type from 'typebox';
import type { Clock } from '../../../lib/clock.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { BrokenWebsiteError } from '../../contract/errors.ts';
import type { LoginRefused, WordPressLogin } from '../../contract/wordpress-login.ts';
import type { Programs, ScriptEnd } from '../../runtime/runtime.ts';
import { doesNotStart } from '../../wordpress/does-not-start.ts';
import { parsePrinted } from '../../wordpress/printed-json.ts';

const VALID_SECONDS = 60;
/** Characters of what PHP said, for the log. */
const LOGGED = 2_000;
const TOKEN_BYTES = 32;
const WITHIN_MS = 20 * SECOND_MS;
/** The website's own code may print more, and this process keeps it. */
const MOST_OUTPUT = 1024 * 1024;

export interface LoginFacts {
  installId: string;
  /** A name that no other install has. */
  database: string;
  /** Null: the oldest administrator. */
  user: string | null;
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
export async function createLogin(
  runtime: Programs,
  { installId, database, user, log, clock, randomness }: LoginFacts,
): Promise<WordPressLogin | LoginRefused> {
  const token = randomness.bytes(TOKEN_BYTES).toString('base64url');
  const hash = createHash('sha256').update(`${database} ${token}`).digest('hex');
  const expires = Math.floor(clock.now().getTime() / SECOND_MS) + VALID_SECONDS;
  let end: ScriptEnd;
  try {
    end = await runtime.runScript({
      script: 'create-login.php',
      // The hash and not the token, because processes can see the arguments of others.
      args: [`homeport_login_${hash}`, String(expires), ...(user === null ? [] : [user])],
      timeoutMs: WITHIN_MS,
      mostOutput: MOST_OUTPUT,
    });
  } catch (err) {
    log.warn({ err, install: installId }, 'could not create a login to WordPress');
    if (err instanceof BrokenWebsiteError) return { refused: 'website', reason: err.message };
    return notRunning(messageOf(err));
  }
  const { exit, stdout, stderr } = end;
  const printed = exit === 0 ? parsePrinted(Printed, stdout) : null;
  if (printed === null) {
    const said = stderr.trim() || stdout;
    log.warn(
      { install: installId, exit, said: said.slice(-LOGGED) },
      'could not create a login to WordPress',
    );
    return notRunning(said);
  }
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
