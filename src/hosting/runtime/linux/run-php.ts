import { CommandError, runCommand } from '../../../lib/run-command.ts';
import { startProgram } from '../../../lib/started-program.ts';
import type { DatabaseLogin } from '../../linux/daemons/mariadb-client.ts';
import { type SandboxedInstall, sandboxCommand } from '../../linux/isolation/sandbox.ts';
import type { LinuxLayout } from '../../linux/machine/layout.ts';
import { commandSettings } from '../../linux/php/compiled-code.ts';
import { outputOfCompleted } from '../../wordpress/completed-script.ts';
import { failureSentence, phpErrorIn } from '../../wordpress/failure-sentence.ts';

export interface PhpRun {
  /** Path of a script that is visible in the sandbox. */
  script: string;
  args?: readonly string[];
  /** Text for its standard input. Secrets belong here, because every user can read arguments. */
  input?: string;
  environment?: Readonly<Record<string, string>>;
  /** php.ini settings for this run. */
  settings?: Record<string, string | number>;
  /** Command prefix that enters the install's cgroup. */
  enter?: readonly string[];
  timeoutMs?: number;
  /** The most bytes of output; more ends the run. */
  mostOutput?: number;
  /** Without network, it reaches only sockets of the machine that its sandbox shows. */
  network?: boolean;
  signal?: AbortSignal | undefined;
}

const MESSAGE_LENGTH = 2000;
const TIMEOUT_MS = 120_000;

/**
 * A run of upgrade.php or replace-urls.php on a database that nobody vouches for: as a user with rights on that alone, and without
 * `wp-content` of the website.
 */
export function bareRun(database: string, login: DatabaseLogin): Pick<PhpRun, 'environment' | 'input'> {
  return {
    environment: { HOMEPORT_DATABASE: database, HOMEPORT_BARE: '1' },
    input: JSON.stringify({ user: login.user, password: login.password }),
  };
}

/** Runs a script with the install's PHP, as its user and in its sandbox. Rejects with a {@link CommandError}. */
export async function runScript(
  layout: LinuxLayout,
  install: SandboxedInstall,
  run: PhpRun,
): Promise<{ stdout: string; stderr: string }> {
  const { input, timeoutMs = TIMEOUT_MS, mostOutput, signal } = run;
  const [program, ...rest] = commandOf(layout, install, run);
  return runCommand(program, rest, {
    ...(input === undefined ? {} : { input }),
    timeoutMs,
    mostOutput,
    signal,
    ownSession: true,
  });
}

/** Does the same, and passes the output to `take` while the script runs. */
export async function followScript(
  layout: LinuxLayout,
  install: SandboxedInstall,
  run: PhpRun,
  take: (chunk: Buffer) => void | Promise<void>,
): Promise<{ stdout: string; stderr: string }> {
  const { input, timeoutMs = TIMEOUT_MS, signal } = run;
  signal?.throwIfAborted();
  const late = AbortSignal.timeout(timeoutMs);
  const ending = signal === undefined ? late : AbortSignal.any([signal, late]);
  const program = startProgram(commandOf(layout, install, run), { ownSession: true });
  const stop = () => void program.stop();
  ending.addEventListener('abort', stop);
  program.stdin.end(input ?? '');
  try {
    for await (const chunk of program.stdout) await take(Buffer.from(chunk));
    const { stderr } = await program.ended;
    ending.throwIfAborted();
    return { stdout: '', stderr };
  } catch (error) {
    await program.stop();
    if (late.aborted && signal?.aborted !== true) {
      const text = `the script did not end within ${timeoutMs / 1_000} seconds`;
      throw new CommandError(text, { status: null, stdout: '', stderr: text });
    }
    throw error;
  } finally {
    ending.removeEventListener('abort', stop);
  }
}

function commandOf(
  layout: LinuxLayout,
  install: SandboxedInstall,
  { script, args = [], environment = {}, settings = {}, enter = [], network = true }: PhpRun,
): [string, ...string[]] {
  const given = Object.entries({
    display_errors: 'stderr',
    memory_limit: '512M',
    ...commandSettings(install),
    ...settings,
  });
  const php = [
    install.php.cli,
    ...given.flatMap(([name, value]) => ['-d', `${name}=${value}`]),
    script,
    ...args,
  ];
  // The caller makes the session: bwrap would leave the group of processes that an abort kills.
  const options = { environment, network, terminal: true, showCompiled: true };
  const sandboxed = sandboxCommand(layout, install, asCommand(php), options);
  return asCommand([...enter, ...sandboxed]);
}

/** Does the same, and returns the output. Rejects with the error of PHP, or else with the end of the error output. */
export async function runPhp(layout: LinuxLayout, install: SandboxedInstall, run: PhpRun): Promise<string> {
  try {
    return (await runScript(layout, install, run)).stdout;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const said = phpErrorIn(error.stderr) ?? (error.stderr.trim() || error.message).slice(-MESSAGE_LENGTH);
    throw new Error(`WordPress of ${install.name}: ${run.script.split('/').at(-1)} failed: ${said}`, {
      cause: error,
    });
  }
}

/** As {@link runPhp}, for scripts that end with the line of {@link outputOfCompleted}. Also rejects if they end early. */
export async function runWhole(layout: LinuxLayout, install: SandboxedInstall, run: PhpRun): Promise<string> {
  const output = await runPhp(layout, install, run);
  const printed = outputOfCompleted(output);
  if (printed !== null) return printed;
  throw new Error(
    `WordPress of ${install.name}: ${run.script.split('/').at(-1)} ended early: ${failureSentence(output)}`,
  );
}

function asCommand([program = '', ...args]: readonly string[]): [string, ...string[]] {
  return [program, ...args];
}
