import Type from 'typebox';
import { MINUTE_MS, SECOND_MS } from '../../../lib/durations.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import {
  type AvailableUpdate,
  MOST_UPDATES,
  type UpdatePlan,
  type WantedUpdates,
} from '../../contract/wordpress-updates.ts';
import type { InstallRuntime } from '../../runtime/runtime.ts';
import { failureSentence } from '../../wordpress/failure-sentence.ts';
import { parsePrinted } from '../../wordpress/printed-json.ts';

/** A plugin or theme as WordPress names it. */
type Item = Pick<AvailableUpdate, 'kind' | 'id'>;

const PLAN_MS = 2 * MINUTE_MS;
/** Enough for a large package on a slow connection. */
const UPDATE_MS = 3 * MINUTE_MS;
const LOOK_MS = 2 * MINUTE_MS;
/** The website's own code may print more, and this process keeps it. */
const MOST_OUTPUT = 4 * 1024 * 1024;

const line = (maxLength: number) => Type.String({ maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });

const Planned = Type.Object({
  updates: Type.Array(
    Type.Object({
      kind: Type.Union([Type.Literal('plugin'), Type.Literal('theme')]),
      id: Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }),
      name: line(200),
      from: line(200),
      to: line(200),
    }),
  ),
  refused: Type.Array(line(1_000)),
});

const State = Type.Object({ unchanged: Type.Boolean() });

const Updated = Type.Union([
  Type.Object({ version: line(200) }),
  Type.Object({ failed: Type.String({ maxLength: 1_000 }) }),
]);

/** Asks WordPress which updates of plugins and themes are available. Rejects with a {@link PermanentHostError} if it cannot tell. */
export async function planItemUpdates(
  runtime: InstallRuntime,
  { plugins, themes }: Pick<WantedUpdates, 'plugins' | 'themes'>,
  signal?: AbortSignal,
): Promise<UpdatePlan> {
  if (plugins.length === 0 && themes.length === 0) return { updates: [], refused: [] };
  const args = [JSON.stringify({ plugins, themes })];
  const { exit, stdout, said } = await run(runtime, 'plan-updates.php', args, PLAN_MS, signal);
  const planned = exit === 0 ? parsePrinted(Planned, stdout) : null;
  if (planned === null) {
    throw new PermanentHostError(`Updates could not be looked up: ${failureSentence(said)}`);
  }
  const { updates, refused } = planned;
  // Each item once, whatever the website printed or the request repeated, and without further fields.
  const items = new Map(
    updates.map(({ kind, id, name, from, to }) => [`${kind} ${id}`, { kind, id, name, from, to }]),
  );
  return {
    updates: [...items.values()].slice(0, MOST_UPDATES),
    refused: [...new Set(refused)].slice(0, MOST_UPDATES),
  };
}

/**
 * Updates one plugin or theme by WordPress's own upgrader. Returns its version then, or why it failed, without a full stop. The website may
 * be half updated.
 */
export async function updateItem(
  runtime: InstallRuntime,
  { kind, id }: Item,
  signal?: AbortSignal,
): Promise<{ version: string } | { failed: string }> {
  const { exit, stdout, said } = await run(runtime, 'update-item.php', [kind, id], UPDATE_MS, signal);
  if (exit !== 0) return { failed: failureSentence(said) };
  const updated = parsePrinted(Updated, stdout);
  if (updated === null) return { failed: `it ended early: ${failureSentence(said)}` };
  return 'failed' in updated ? { failed: failureSentence(updated.failed) } : updated;
}

/**
 * Whether an update that began at `since` and failed left the plugin or theme as it was. Then also removes what else it left, such as an
 * unpacked package. False if the website cannot tell.
 */
export async function isItemUntouched(
  runtime: InstallRuntime,
  { kind, id }: Item,
  since: number,
): Promise<boolean> {
  const args = [kind, id, String(Math.floor(since / SECOND_MS))];
  try {
    const { exit, stdout } = await run(runtime, 'item-state.php', args, LOOK_MS);
    return exit === 0 && (parsePrinted(State, stdout)?.unchanged ?? false);
  } catch (error) {
    // Such as without a database, where no retry helps.
    if (error instanceof PermanentHostError) return false;
    throw error;
  }
}

async function run(
  runtime: InstallRuntime,
  script: string,
  args: readonly string[],
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<{ exit: number | null; stdout: string; said: string }> {
  const given = { script, args, timeoutMs, mostOutput: MOST_OUTPUT };
  const { stdout, stderr, exit } = await runtime.runScript(given, signal);
  return { exit, stdout, said: stderr.trim() || stdout };
}
