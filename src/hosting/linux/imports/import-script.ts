import { createInterface } from 'node:readline';
import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { CommandError } from '../../../lib/run-command.ts';
import { RefusedImportError } from '../../contract/errors.ts';
import { phpErrorIn } from '../../wordpress/failure-sentence.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import { type RunningProgram, startProgram } from '../backups/programs.ts';
import { type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** A script of an import, which runs with the install's PHP, as its user and in its sandbox. */
export interface ImportScript {
  /** Name of one of our PHP files. */
  name: string;
  args: readonly string[];
  /** Command prefix that enters the install's cgroup. */
  enter: readonly string[];
  /** php.ini settings for this run. */
  settings?: Readonly<Record<string, string>>;
  input?: string;
  signal?: AbortSignal | undefined;
}

const Progress = Type.Object({
  progress: Type.Tuple([
    Type.Integer({ minimum: 0 }),
    Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  ]),
});
const Printed = Type.Object({ result: Type.Unknown() });
const Refused = Type.Object({ refused: Type.String() });
const LONGEST_REASON = 1_000;

/** Starts a script. The caller ends its input. */
export function startImportScript(
  layout: LinuxLayout,
  install: SandboxedInstall,
  { name, args, enter, settings = {} }: ImportScript,
): RunningProgram {
  const given = Object.entries({ display_errors: 'stderr', memory_limit: '256M', ...settings });
  const options = given.flatMap(([setting, value]) => ['-d', `${setting}=${value}`]);
  const script = phpFileOf(layout.coreOf(install.wordpressVersion), name);
  const command = sandboxCommand(layout, install, [install.php.cli, ...options, script, ...args], {
    terminal: true,
  });
  const [program, ...rest] = [...enter, ...command];
  if (program === undefined) throw new Error('there is no command');
  return startProgram([program, ...rest], { ownSession: true });
}

/**
 * Runs a script that prints lines of JSON: progress, and in the end a result or the reason of a refusal, with which this rejects
 * as a {@link RefusedImportError}.
 */
export async function runImportScript<Schema extends TSchema>(
  layout: LinuxLayout,
  install: SandboxedInstall,
  script: ImportScript,
  result: Schema,
  report: (done: number, total: number | null) => void,
): Promise<Static<Schema>> {
  const { signal } = script;
  signal?.throwIfAborted();
  const program = startImportScript(layout, install, script);
  const stop = () => void program.stop();
  signal?.addEventListener('abort', stop);
  program.stdin.end(script.input ?? '');
  let last: unknown = null;
  try {
    for await (const line of createInterface({ input: program.stdout })) {
      last = parsed(line);
      if (Value.Check(Progress, last)) report(...last.progress);
    }
    await program.ended;
  } catch (error) {
    signal?.throwIfAborted();
    throw explainScript(error, install, script.name);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
  if (Value.Check(Refused, last)) throw new RefusedImportError(last.refused.slice(0, LONGEST_REASON));
  if (Value.Check(Printed, last) && Value.Check(result, last.result)) return last.result;
  throw new Error(`${script.name} printed no result`);
}

/** The end of what a script wrote, in an error that is retried. */
export function explainScript(error: unknown, install: SandboxedInstall, name: string): unknown {
  if (!(error instanceof CommandError)) return error;
  const said = phpErrorIn(error.stderr) ?? (error.stderr.trim() || error.message).slice(-LONGEST_REASON);
  return new Error(`${name} of ${install.name} failed: ${said}`, { cause: error });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
