import Type from 'typebox';
import { MINUTE_MS, SECOND_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import {
  type AvailableUpdate,
  MOST_UPDATES,
  type UpdatePlan,
  type WantedUpdates,
} from '../../contract/wordpress-updates.ts';
import { runPhp } from '../../runtime/linux/run-php.ts';
import { failureSentence } from '../../wordpress/failure-sentence.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import { parsePrinted } from '../../wordpress/printed-json.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** WordPress's own updates of plugins and themes, run as the install in its sandbox. */
export interface Updater {
  plan(
    install: SandboxedInstall,
    wanted: Pick<WantedUpdates, 'plugins' | 'themes'>,
    signal?: AbortSignal,
  ): Promise<UpdatePlan>;
  /** Updates one plugin or theme. Returns its version then, or why it failed, without a full stop. The website may be half updated. */
  update(
    install: SandboxedInstall,
    item: Pick<AvailableUpdate, 'kind' | 'id'>,
    signal?: AbortSignal,
  ): Promise<{ version: string } | { failed: string }>;
  /**
   * Whether an update that began at `since` and failed left the plugin or theme as it was. Then also removes what else it left, such as
   * an unpacked package. False if the website cannot tell.
   */
  isUntouched(
    install: SandboxedInstall,
    item: Pick<AvailableUpdate, 'kind' | 'id'>,
    since: number,
  ): Promise<boolean>;
}

export interface UpdaterOptions {
  layout: LinuxLayout;
  enter(installId: string): readonly string[];
  /** Time limit of one update. */
  updateMs?: number;
}

const PLAN_MS = 2 * MINUTE_MS;
/** Enough for a large package on a slow connection. */
const UPDATE_MS = 3 * MINUTE_MS;
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

export function createUpdater({ layout, enter, updateMs = UPDATE_MS }: UpdaterOptions): Updater {
  const script = (install: SandboxedInstall, name: string) =>
    phpFileOf(layout.coreOf(install.wordpressVersion), name);

  return {
    async plan(install, wanted, signal) {
      if (wanted.plugins.length === 0 && wanted.themes.length === 0) return { updates: [], refused: [] };
      let output: string;
      try {
        output = await runPhp(layout, install, {
          script: script(install, 'plan-updates.php'),
          args: [JSON.stringify({ plugins: wanted.plugins, themes: wanted.themes })],
          enter: enter(install.id),
          timeoutMs: PLAN_MS,
          mostOutput: MOST_OUTPUT,
          signal,
        });
      } catch (error) {
        signal?.throwIfAborted();
        throw new PermanentHostError(`Updates could not be looked up: ${failureSentence(messageOf(error))}`, {
          cause: error,
        });
      }
      const planned = parsePrinted(Planned, output);
      if (planned === null) {
        throw new PermanentHostError(`Updates could not be looked up: ${failureSentence(output)}`);
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
    },

    async update(install, { kind, id }, signal) {
      let output: string;
      try {
        output = await runPhp(layout, install, {
          script: script(install, 'update-item.php'),
          args: [kind, id],
          enter: enter(install.id),
          timeoutMs: updateMs,
          mostOutput: MOST_OUTPUT,
          signal,
        });
      } catch (error) {
        signal?.throwIfAborted();
        return { failed: failureSentence(messageOf(error)) };
      }
      const updated = parsePrinted(Updated, output);
      if (updated === null) return { failed: `it ended early: ${failureSentence(output)}` };
      return 'failed' in updated ? { failed: failureSentence(updated.failed) } : updated;
    },

    async isUntouched(install, { kind, id }, since) {
      try {
        const output = await runPhp(layout, install, {
          script: script(install, 'item-state.php'),
          args: [kind, id, String(Math.floor(since / SECOND_MS))],
          enter: enter(install.id),
          mostOutput: MOST_OUTPUT,
        });
        return parsePrinted(State, output)?.unchanged ?? false;
      } catch {
        return false;
      }
    },
  };
}
