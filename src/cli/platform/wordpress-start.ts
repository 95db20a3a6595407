import type { RunningHomeport } from '../../app/homeport.ts';
import { phpName, whyWasm } from '../../hosting/policy/embedded-php-name.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/error-message.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { createLineProgress } from '../terminal/line-progress.ts';
import { printable } from '../terminal/output.ts';

type Prepare = NonNullable<RunningHomeport['prepareWordPress']>;

interface Outputs {
  /** Shows the download. */
  progress: { isTTY?: boolean; write(text: string): unknown };
  /** Gets the result. */
  result: { write(text: string): unknown };
}

interface StartOptions extends Outputs {
  first: boolean;
  /** Attempts, unless a failure lasts. Default: 1. */
  attempts?: number;
  /** Of the server: nothing is said or tried again after it. */
  stopping: AbortSignal;
  clock: Clock;
}

const MIB = 1024 * 1024;
const NEXT = 'Create one in the portal, or with: homeport install create shop\n';

/**
 * Makes WordPress ready for new websites and shows its download. Says whether WordPress can run here, and if not, why: at the `first` start, and
 * after a download. Returns whether it is ready.
 */
export async function startWordPress(
  prepare: Prepare,
  { first, attempts = 1, stopping, clock, progress, result }: StartOptions,
): Promise<boolean> {
  let downloaded = false;

  async function attempt() {
    const line = createLineProgress('Downloading WordPress', progress, clock);
    return prepare((done, total) => {
      downloaded = true;
      const all = total === null ? '' : ` of ${Math.round(total / MIB)}`;
      line.report(`${Math.round(done / MIB)}${all} MiB`);
    }).finally(line.end);
  }

  for (let left = attempts - 1; ; left -= 1) {
    const prepared = await attempt().catch((error: unknown) => ({
      error,
      reason: messageOf(error),
      mayPass: true,
    }));
    if (!('reason' in prepared)) {
      if (first || downloaded) {
        result.write(`WordPress ${prepared.wordpress} is ready for new installs.\n`);
      }
      const why = whyWasm(prepared.php);
      result.write(`Websites run ${phpName(prepared.php)}.${why === null ? '' : ` ${printable(why)}`}\n`);
      if (first) result.write(withOwnCommand(NEXT));
      return true;
    }
    const again = prepared.mayPass === true && left > 0;
    if (first && !stopping.aborted) {
      const next = again ? 'Homeport tries again.' : 'Static websites work.';
      result.write(`WordPress cannot run here yet. ${sentence(prepared.reason)} ${next}\n`);
    }
    if (again && !stopping.aborted) continue;
    if ('error' in prepared) throw prepared.error;
    return false;
  }
}

const sentence = (text: string): string => printable(text).replace(/\.?$/, '.');
