import fs from 'node:fs';
import { join } from 'node:path';
import { addToErrorLog, ERROR_LOG } from './error-log.ts';
import type { PhpCall } from './thread-messages.ts';

/** Logs calls that PHP did not finish, and removes their temporary files. */
export interface CutCalls {
  /** Adds a line to the website's log, and removes the temporary files of the call. */
  clean(call: PhpCall, temporary: ReadonlySet<string>, reason: string): void;
}

/** `folder`: the private folder of the website. `log` takes what goes wrong here. */
export function createCutCalls(folder: string, log: (line: string) => void): CutCalls {
  const own = fs.realpathSync.native(folder);

  function attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      log(`after a call that was cut: ${String(error)}`);
    }
  }

  return {
    clean({ method, target, code }, temporary, reason) {
      // The query may have secrets.
      const what = code === null ? `${method} ${target.split('?', 1)[0]}` : 'a task of the platform';
      attempt(() => addToErrorLog(join(own, ERROR_LOG), `Homeport ended ${what}: ${reason}`, new Date()));
      const tmp = join(own, 'tmp');
      for (const name of temporary) {
        attempt(() => {
          if (fs.realpathSync.native(tmp) === tmp) fs.rmSync(join(tmp, name), { force: true });
        });
      }
    },
  };
}
