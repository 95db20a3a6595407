import Type, { type Static } from 'typebox';
import { MINUTE_MS } from '../../../lib/durations.ts';
import type { ItemChange } from '../../contract/wordpress-changes.ts';
import type { InstallRuntime } from '../../runtime/runtime.ts';
import { failureSentence } from '../../wordpress/failure-sentence.ts';
import { parsePrinted } from '../../wordpress/printed-json.ts';

/** Enough for a large package on a slow connection. */
const WITHIN_MS = 3 * MINUTE_MS;
/** The website's own code may print more, and this process keeps it. */
const MOST_OUTPUT = 4 * 1024 * 1024;

const line = (maxLength: number) => Type.String({ maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });
const reason = Type.String({ maxLength: 1_000 });

const Made = Type.Union([
  Type.Object({
    changed: Type.Object({
      id: Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }),
      name: line(200),
      version: Type.Union([line(200), Type.Null()]),
    }),
    /** The theme of the website now. */
    stylesheet: line(300),
    template: line(300),
  }),
  Type.Object({ refused: reason }),
  Type.Object({ failed: reason }),
]);

export type MadeChange = Static<typeof Made>;

/**
 * Changes a plugin or theme by WordPress's own functions. `refused`: nothing was changed. `failed`: the website may be half changed. Reasons
 * have no full stop. Rejects if nothing could be started.
 */
export async function makeItemChange(
  runtime: InstallRuntime,
  change: ItemChange,
  signal?: AbortSignal,
): Promise<MadeChange> {
  // Some plugins register their deactivation hook only in wp-admin. If a plugin ends PHP there, the next run deactivates it.
  const asAdmin = isDeactivation(change) ? await run(runtime, 'admin', change, signal) : null;
  const { made, said, isUnchanged } =
    asAdmin === null || hasEndedBefore(asAdmin) ? await run(runtime, 'whole', change, signal) : asAdmin;
  if (made !== null && !('failed' in made)) return made;
  const failed = made ?? endedEarly(said);
  // A broken plugin or theme can fail before anything was tried, and this change can be what repairs the website.
  if (!isPossiblePlain(change)) return failed;
  let plain: Awaited<ReturnType<typeof run>>;
  try {
    plain = await run(runtime, 'plain', change, signal);
  } catch {
    signal?.throwIfAborted();
    // The first run has started, so a rejection would be wrong.
    return failed;
  }
  if (plain.made === null) return endedEarly(plain.said);
  // After a first run that left a half change, a refusal would claim that nothing was changed.
  return 'refused' in plain.made && !isUnchanged ? failed : plain.made;
}

/** `made` is null if the program ended without an outcome; `said` are its last words. */
async function run(
  runtime: InstallRuntime,
  mode: 'whole' | 'admin' | 'plain',
  { kind, id, source, status, autoUpdate }: ItemChange,
  signal?: AbortSignal,
): Promise<{ made: MadeChange | null; said: string; isUnchanged: boolean }> {
  const { stdout, stderr, exit } = await runtime.runScript(
    {
      script: 'change-item.php',
      args: [mode],
      // A URL can contain a signature.
      input: JSON.stringify({ kind, id, source, status, autoUpdate }),
      timeoutMs: WITHIN_MS,
      mostOutput: MOST_OUTPUT,
    },
    signal,
  );
  const made = exit === 0 ? parsePrinted(Made, stdout) : null;
  return { made, said: stderr.trim() || stdout, isUnchanged: saysUnchanged(stdout) };
}

/** Whether PHP ended by `exit` or an error before anything was tried. */
const hasEndedBefore = ({ made, isUnchanged }: { made: MadeChange | null; isUnchanged: boolean }): boolean =>
  isUnchanged && (made === null || 'failed' in made);

const isDeactivation = ({ kind, source, status }: ItemChange): boolean =>
  kind === 'plugin' && source === null && status === 'inactive';

/** Whether WordPress can make the change without its plugins. The code of a new one must run with the others. */
function isPossiblePlain({ kind, source, status }: ItemChange): boolean {
  return source === null && (kind === 'theme' || status !== 'active');
}

const endedEarly = (said: string) => ({ failed: `WordPress ended early: ${failureSentence(said)}` });

/** Whether change-item.php says that nothing was changed. The website's own code may print other lines, even after it. */
function saysUnchanged(output: string): boolean {
  return output.split('\n').includes('{"unchanged":true}');
}
