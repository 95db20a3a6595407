import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { LoginRefused, WordPressLogin } from '../../contract/wordpress-login.ts';
import { runPhp } from '../../runtime/linux/run-php.ts';
import { createLogin, LOGIN_SCRIPT, LOGIN_WITHIN_MS } from '../../wordpress/logins.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { pingPhp } from '../php/fpm.ts';

export interface LoginsOptions {
  layout: LinuxLayout;
  enter(installId: string): readonly string[];
  log: Logger;
  clock: Clock;
  randomness: Randomness;
}

/** Creates logins to websites whose PHP runs. */
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
    const run = (args: string[]) =>
      runPhp(layout, install, {
        script: phpFileOf(layout.coreOf(install.wordpressVersion), LOGIN_SCRIPT),
        args,
        enter: enter(install.id),
        timeoutMs: LOGIN_WITHIN_MS,
      });
    return createLogin({ installId: install.id, database, user, run, log, clock, randomness });
  };
}
