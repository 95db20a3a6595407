import { CommandError } from '../../../lib/run-command.ts';
import type { ScriptRun, WebsiteScripts } from '../../websites/probe/website-scripts.ts';
import { failureSentence } from '../../wordpress/failure-sentence.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { newestFatals } from '../wordpress/error-log.ts';
import { runScript } from '../wordpress/run-php.ts';

/** The website's own code may print more, and this process keeps it. */
const MOST_OUTPUT = 1024 * 1024;
/** PHP's exit status after a fatal error. */
const FATAL = 255;

/** Runs PHP as a website of this host, in its sandbox. `enter`: command prefix that enters the install's cgroup. */
export function websiteScripts(
  layout: LinuxLayout,
  install: SandboxedInstall,
  { enter, signal }: { enter: readonly string[]; signal?: AbortSignal | undefined },
): WebsiteScripts {
  return {
    async runScript(name, args, { timeoutMs, network = true }): Promise<ScriptRun> {
      try {
        const script = phpFileOf(layout.coreOf(install.wordpressVersion), name);
        // The socket for mail is no network. Plugins take such mail for sent.
        const settings: Record<string, string> = network ? {} : { sendmail_path: '/bin/true' };
        const run = { script, args, settings, enter, timeoutMs, network, mostOutput: MOST_OUTPUT, signal };
        return { output: (await runScript(layout, install, run)).stdout };
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof CommandError)) throw error;
        if (error.status !== FATAL) return { failed: failureSentence(error.stderr || error.message) };
        return { fatal: failureSentence(error.stderr) };
      }
    },
    fatals: () => newestFatals(layout, install),
  };
}
