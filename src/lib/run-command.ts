import { execFile } from 'node:child_process';
import { tracingChannel } from 'node:diagnostics_channel';
import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import { hasCode } from './error-code.ts';

export interface CommandOptions {
  /** Text for the program's standard input; empty if left out. */
  input?: string | Buffer;
  /** Environment besides PATH and LC_ALL. Secrets belong here, never in arguments, which every user can read. */
  environment?: Record<string, string>;
  /** Working folder; `/` if left out. */
  folder?: string;
  /** Milliseconds after which the program is killed; 60 s if left out. */
  timeoutMs?: number;
  /** The most bytes of standard output, and of standard error; a program that writes more is killed. 64 MiB if left out. */
  mostOutput?: number | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Runs the program in a session of its own, and an abort kills its whole group. For bwrap: until its child has asked the kernel
   * to die with it, the child survives it.
   */
  ownSession?: boolean;
}

/** A program exited with a status other than 0. The message contains the end of its standard error. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly status: number | null;
  /** Private, because the log includes all properties of an error. */
  readonly #output: { stdout: string; stderr: string };

  constructor(
    message: string,
    { status, ...output }: { status: number | null; stdout: string; stderr: string },
  ) {
    super(message);
    this.status = status;
    this.#output = output;
  }

  get stdout(): string {
    return this.#output.stdout;
  }

  get stderr(): string {
    return this.#output.stderr;
  }
}

/** A program that {@link runCommand} runs, for those who watch. Arguments may contain what is private. */
export interface WatchedProgram {
  /** Its name without a folder. */
  program: string;
  /** Why it failed; absent before the end, and if it succeeded. */
  error?: unknown;
}

/** Traces subscribe here. Nothing is called without a subscriber. */
export const programs = tracingChannel<unknown, WatchedProgram>('homeport.program');

/** Keeps the process id, because execFile makes no group leaders. */
const SETSID = '/usr/bin/setsid';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const MOST_OUTPUT = 64 * 1024 * 1024;
/** A tenant's program can write as much as fits, and messages go to the log. */
const MOST_IN_MESSAGE = 4_000;

/**
 * Runs a program to its end and returns its output. There is no shell: `args` reach the program unchanged. Rejects with a
 * {@link CommandError}, or with the signal's reason.
 */
export async function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<{ stdout: string; stderr: string }> {
  const {
    input,
    environment = {},
    folder = '/',
    timeoutMs = 60_000,
    mostOutput = MOST_OUTPUT,
    signal,
    ownSession = false,
  } = options;
  signal?.throwIfAborted();
  const [program, ...rest] = ownSession ? [SETSID, file, ...args] : [file, ...args];
  const run = () =>
    new Promise<{ stdout: string; stderr: string }>((resolve, reject) => {
      const child = execFile(
        program,
        rest,
        {
          cwd: folder,
          env: { PATH, LC_ALL: 'C.UTF-8', ...environment },
          timeout: timeoutMs,
          killSignal: 'SIGKILL',
          maxBuffer: mostOutput,
          encoding: 'utf8',
          ...(signal ? { signal } : {}),
        },
        (error, stdout, stderr) => {
          if (error === null) return resolve({ stdout, stderr });
          if (signal?.aborted) {
            // execFile has killed the program itself by now: one without its session yet has no children.
            if (ownSession && child.pid !== undefined) killGroup(child.pid);
            return reject(signal.reason);
          }
          const status = typeof error.code === 'number' ? error.code : null;
          const said =
            stderr.trim() || (error.killed ? `it took longer than ${timeoutMs} ms` : error.message);
          const why = said.slice(-MOST_IN_MESSAGE);
          reject(new CommandError(`${file} failed: ${why}`, { status, stdout, stderr }));
        },
      );
      feed(child.stdin, input);
    });
  return programs.hasSubscribers ? programs.tracePromise(run, { program: basename(file) }) : run();
}

/** Sends a signal to all processes of a group. Does nothing if it has none. */
export function killGroup(group: number, signal: 'SIGINT' | 'SIGKILL' = 'SIGKILL'): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

/** Whether a program exits with status 0. Discards its output. */
export async function succeeds(file: string, args: readonly string[]): Promise<boolean> {
  try {
    await runCommand(file, args);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

function feed(stdin: Writable | null, input: string | Buffer | undefined): void {
  // A program that ends before it has read everything closes the pipe; its exit status is what counts.
  stdin?.on('error', () => {});
  stdin?.end(input ?? '');
}
