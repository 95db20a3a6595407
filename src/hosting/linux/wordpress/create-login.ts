import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { LoginRefused, WordPressLogin } from '../../contract/wordpress-login.ts';
import { linuxRuntime } from '../../runtime/linux/linux-runtime.ts';
import { createLogin } from '../../websites/login/create-login.ts';
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
    const runtime = linuxRuntime(layout, install, enter(install.id));
    return createLogin(runtime, { installId: install.id, database, user, log, clock, randomness });
  };
}
