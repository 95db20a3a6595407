import { MINUTE_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import type { Programs } from '../../runtime/runtime.ts';
import { outputOfCompleted } from '../../wordpress/completed-script.ts';
import { failureSentence, phpErrorIn } from '../../wordpress/failure-sentence.ts';
import { cleanReason } from '../../wordpress/website-text.ts';

const WITHIN_MS = 30 * MINUTE_MS;
const MOST_OUTPUT = 1024 * 1024;
/** See php/upgrade.php. */
const ONLY_OTHER = 'only-other';

/**
 * Upgrades or downgrades the database of a website to its WordPress. Returns why that failed, on one line without a full stop; null if it
 * succeeded. `args`: of upgrade.php.
 */
export async function upgradeDatabase(
  runtime: Programs,
  signal: AbortSignal | undefined,
  args: readonly string[] = [],
): Promise<string | null> {
  const end = await runtime.runScript(
    { script: 'upgrade.php', args, timeoutMs: WITHIN_MS, mostOutput: MOST_OUTPUT, network: false },
    signal,
  );
  if (end.exit === 0 && outputOfCompleted(end.stdout) !== null) return null;
  return phpErrorIn(end.stderr) ?? failureSentence(end.stdout || end.stderr);
}

/**
 * Upgrades the database of a restored website: the backup can be older or newer than the WordPress that the website keeps, which would ask
 * each administrator for it. Returns a warning if that failed, because the website is in its place; null if it succeeded. Rejects with the
 * reason of `signal` only.
 */
export async function upgradeRestored(
  runtime: Programs,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  try {
    const reason = await upgradeDatabase(runtime, signal, [ONLY_OTHER]);
    return reason === null ? null : warningFor('the database was not upgraded to this WordPress', reason);
  } catch (error) {
    signal?.throwIfAborted();
    // Other websites use all memory, for example. The database can have the version of this WordPress.
    return warningFor('the version of the database could not be compared', messageOf(error));
  }
}

const warningFor = (fault: string, reason: string): string =>
  cleanReason(`${fault}: ${reason}`.replace(/\.$/, ''));

/** The warnings about a restored website, on one line; null without one. */
export function joinedWarnings(warnings: readonly (string | null)[]): string | null {
  const given = warnings.filter((warning) => warning !== null);
  return given.length === 0 ? null : given.join('; ');
}
