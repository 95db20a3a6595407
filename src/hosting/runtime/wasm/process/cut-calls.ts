import fs from 'node:fs';
import { join } from 'node:path';
import { addToErrorLog, ERROR_LOG } from './error-log.ts';
/** Logs calls that PHP did not finish, and removes their temporary files. */
export interface CutCalls {
  /** Adds a line about `what` to the website's log, and removes its temporary files. */
  clean(what: string, temporary: ReadonlySet<string>, reason: string): void;
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
    clean(what, temporary, reason) {
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
