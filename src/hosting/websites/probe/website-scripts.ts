import type { InstallRuntime } from '../../runtime/runtime.ts';
import { failureSentence } from '../../wordpress/failure-sentence.ts';
import { fatalsIn } from '../../wordpress/fatal-errors.ts';

/** How a script of a website ended. `fatal`: the error of PHP that ended it, on one line. `failed`: it ended otherwise, or too late. */
export type ScriptRun = { output: string } | { fatal: string } | { failed: string };

/** Runs PHP as a website, for a check of it. */
export interface WebsiteScripts {
  /** Runs a file of hosting/wordpress/php. Without `network` it reaches nothing but the database and the files of the website. */
  runScript(
    name: string,
    args: readonly string[],
    options: { timeoutMs: number; network?: boolean },
  ): Promise<ScriptRun>;
  /** The newest fatal errors in PHP's log, oldest first: without their times, with file and line. */
  fatals(): Promise<string[]>;
}

/** The website's own code may print more, and this process keeps it. */
const MOST_OUTPUT = 1024 * 1024;
/** PHP's exit status after a fatal error. */
const FATAL = 255;
/** Of the log, the part in which fatal errors are looked for. */
const NEWEST_BYTES = 64 * 1024;

export function websiteScripts(runtime: InstallRuntime, signal?: AbortSignal): WebsiteScripts {
  return {
    async runScript(script, args, options) {
      const run = { script, args, mostOutput: MOST_OUTPUT, ...options };
      const { exit, stdout, stderr } = await runtime.runScript(run, signal);
      if (exit === 0) return { output: stdout };
      return exit === FATAL ? { fatal: failureSentence(stderr) } : { failed: failureSentence(stderr) };
    },
    fatals: () => newestFatals(runtime),
  };
}

/** The newest fatal errors in PHP's log, oldest first: without their times, with file and line. */
export async function newestFatals(files: Pick<InstallRuntime, 'endOfErrorLog'>): Promise<string[]> {
  return fatalsIn(await files.endOfErrorLog(NEWEST_BYTES));
}
