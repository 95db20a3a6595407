/** How a script of a website ended. `fatal`: the error of PHP that ended it, on one line. `failed`: it ended otherwise, or too late. */
export type ScriptRun = { output: string } | { fatal: string } | { failed: string };

/** Runs PHP as a website. The hosts differ in how. */
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
