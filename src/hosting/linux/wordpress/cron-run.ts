import { CommandError } from '../../../lib/run-command.ts';
import { endOfOutput } from '../../websites/logs/log-line.ts';

/** How a run of WP-Cron ended. */
export interface CronRun {
  /** Null if the run was ended, because it took too long. */
  exit: number | null;
  /** The end of what it printed. */
  output: string;
}

/** The outcome of a run. Rejects if the run could not be started or was cancelled. */
export async function cronRun(run: Promise<{ stdout: string; stderr: string }>): Promise<CronRun> {
  try {
    return { exit: 0, output: endOf(await run) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { exit: error.status, output: endOf(error) };
  }
}

function endOf({ stdout, stderr }: { stdout: string; stderr: string }): string {
  return endOfOutput(stdout, stderr);
}
