import type { RunningHomeport } from '../../app/homeport.ts';
import type { Clock } from '../../lib/clock.ts';
import { createLineProgress } from '../terminal/line-progress.ts';
import { printable } from '../terminal/output.ts';

type Prepare = NonNullable<RunningHomeport['prepareWordPress']>;

interface Outputs {
  /** Shows the download. */
  progress: { isTTY?: boolean; write(text: string): unknown };
  /** Gets the result. */
  result: { write(text: string): unknown };
}

const MIB = 1024 * 1024;

/**
 * Makes WordPress ready for new websites and shows its download. Says whether WordPress can run here, and if not, why: at the `first` start, and
 * after a download. Returns whether it is ready.
 */
export async function startWordPress(
  prepare: Prepare,
  { first, clock, progress, result }: { first: boolean; clock: Clock } & Outputs,
): Promise<boolean> {
  const line = createLineProgress('Downloading WordPress', progress, clock);
  let downloaded = false;
  const prepared = await prepare((done, total) => {
    downloaded = true;
    const all = total === null ? '' : ` of ${Math.round(total / MIB)}`;
    line.report(`${Math.round(done / MIB)}${all} MiB`);
  }).finally(line.end);
  if ('reason' in prepared) {
    if (first) {
      result.write(
        `WordPress cannot run here yet. ${printable(prepared.reason).replace(/\.?$/, '.')} Static websites work.\n`,
      );
    }
    return false;
  }
  if (first || downloaded) {
    result.write(`WordPress ${prepared.wordpress} with PHP ${prepared.php} is ready for new installs.\n`);
  }
  return true;
}
