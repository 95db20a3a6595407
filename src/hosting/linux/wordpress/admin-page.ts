import { SECOND_MS } from '../../../lib/durations.ts';
import { CommandError } from '../../../lib/run-command.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { lastLine } from './last-line.ts';
import { runScript } from './run-php.ts';

const WITHIN_MS = 20 * SECOND_MS;
/** The website's own code may print more, and this process keeps it. */
const MOST_OUTPUT = 1024 * 1024;
/** PHP's exit status after a fatal error. */
const FATAL = 255;

/**
 * Begins a page of wp-admin as an administrator. Plugins can deactivate themselves there. Returns the fatal error of PHP; null without
 * one, also if the page did not end in time.
 */
export async function beginAdminPage(
  layout: LinuxLayout,
  install: SandboxedInstall,
  { enter, signal }: { enter: readonly string[]; signal: AbortSignal | undefined },
): Promise<string | null> {
  try {
    await runScript(layout, install, {
      script: phpFileOf(layout.coreOf(install.wordpressVersion), 'admin-page.php'),
      enter,
      timeoutMs: WITHIN_MS,
      mostOutput: MOST_OUTPUT,
      signal,
    });
    return null;
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof CommandError) || error.status !== FATAL) return null;
    const [, reason] = /(?:Fatal|Parse) error:\s*(\S.*)/.exec(error.stderr) ?? [];
    return lastLine(reason ?? error.stderr);
  }
}
