import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import Type from 'typebox';
import type { Clock } from '../../../lib/clock.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { LoginRefused, WordPressLogin } from '../../contract/host.ts';
import { doesNotStart } from '../../wordpress/does-not-start.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import { parsePrinted } from '../../wordpress/printed-json.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { pingPhp } from '../php/fpm.ts';
import { runPhp } from './run-php.ts';

const VALID_SECONDS = 60;
const WITHIN_MS = 20 * SECOND_MS;
const TOKEN_BYTES = 32;

export interface LoginsOptions {
  layout: LinuxLayout;
  enter(installId: string): readonly string[];
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
 * Creates logins (docs/decisions/wordpress.md). The database keeps a hash of the token and the database's name. A leaked database
 * signs no one in, nor does a copy of the row in another install.
 */
export function createLogins({ layout, enter, log, clock, randomness }: LoginsOptions) {
  return async (
    install: SandboxedInstall,
    database: string,
    user: string | null,
  ): Promise<WordPressLogin | LoginRefused> => {
    try {
      await pingPhp(layout.phpSocketOf(install.id));
    } catch {
      return {
        refused: 'website',
        reason: 'PHP of this website is not running. Try again in a minute, then tell your hosting company.',
      };
    }
    const token = randomness.bytes(TOKEN_BYTES).toString('base64url');
    const hash = createHash('sha256').update(`${database} ${token}`).digest('hex');
    const expires = Math.floor(clock.now().getTime() / SECOND_MS) + VALID_SECONDS;
    let output: string;
    try {
      output = await runPhp(layout, install, {
        script: phpFileOf(layout.coreOf(install.wordpressVersion), 'create-login.php'),
        // The hash and not the token, because processes can see the arguments of others.
        args: [`homeport_login_${hash}`, String(expires), ...(user === null ? [] : [user])],
        enter: enter(install.id),
        timeoutMs: WITHIN_MS,
      });
    } catch (err) {
      log.warn({ err, install: install.id }, 'could not create a login to WordPress');
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
  };
}

function notRunning(said: string): LoginRefused {
  return { refused: 'website', reason: doesNotStart(said) };
}
