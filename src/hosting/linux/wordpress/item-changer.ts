import Type, { type Static } from 'typebox';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { CommandError } from '../../../lib/run-command.ts';
import type { ItemChange } from '../../contract/wordpress-changes.ts';
import { failureSentence } from '../../wordpress/failure-sentence.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import { parsePrinted } from '../../wordpress/printed-json.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { runScript } from './run-php.ts';

/** Changes of single plugins and themes by WordPress's own functions, run as the install in its sandbox. */
export interface ItemChanger {
  /** `refused`: nothing was changed. `failed`: the website may be half changed. Reasons have no full stop. */
  change(install: SandboxedInstall, change: ItemChange, signal?: AbortSignal): Promise<MadeChange>;
}

export interface ItemChangerOptions {
  layout: LinuxLayout;
  enter(installId: string): readonly string[];
}

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

export function createItemChanger({ layout, enter }: ItemChangerOptions): ItemChanger {
  /** `made` is null if the program ended without an outcome; `said` are its last words. */
  async function run(
    install: SandboxedInstall,
    mode: 'whole' | 'admin' | 'plain',
    { kind, id, source, status, autoUpdate }: ItemChange,
    signal?: AbortSignal,
  ): Promise<{ made: MadeChange | null; said: string; isUnchanged: boolean }> {
    const options = {
      script: phpFileOf(layout.coreOf(install.wordpressVersion), 'change-item.php'),
      args: [mode],
      // A URL can contain a signature.
      input: JSON.stringify({ kind, id, source, status, autoUpdate }),
      enter: enter(install.id),
      timeoutMs: WITHIN_MS,
      mostOutput: MOST_OUTPUT,
      signal,
    };
    try {
      const { stdout, stderr } = await runScript(layout, install, options);
      return { made: parsePrinted(Made, stdout), said: stderr || stdout, isUnchanged: saysUnchanged(stdout) };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof CommandError)) throw error;
      const said = error.stderr.trim() || error.message;
      return { made: null, said, isUnchanged: saysUnchanged(error.stdout) };
    }
  }

  return {
    async change(install, change, signal) {
      // Some plugins register their deactivation only in wp-admin. A plugin that ends PHP there does not prevent it.
      const asAdmin = isDeactivation(change) ? await run(install, 'admin', change, signal) : null;
      const { made, said, isUnchanged } =
        asAdmin === null || (asAdmin.made === null && asAdmin.isUnchanged)
          ? await run(install, 'whole', change, signal)
          : asAdmin;
      if (made !== null && !('failed' in made)) return made;
      const failed = made ?? endedEarly(said);
      // A broken plugin or theme can fail before anything was tried, and this change can be what repairs the website.
      if (!isPossiblePlain(change)) return failed;
      const plain = await run(install, 'plain', change, signal);
      if (plain.made === null) return endedEarly(plain.said);
      // What the first run left half changed is only refused now.
      return 'refused' in plain.made && !isUnchanged ? failed : plain.made;
    },
  };
}

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
