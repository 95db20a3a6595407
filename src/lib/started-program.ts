import { spawn } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError, killGroup } from './run-command.ts';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const MOST_STDERR = 64 * 1024;
const AHEAD_BYTES = 1024 * 1024;
/** Time for a program to clean up after a stop signal: restic removes its lock. */
const GRACE_MS = 5_000;
const ENDING_MS = 200;

/** A program with input and output too large for memory. */
export interface RunningProgram {
  stdin: Writable;
  stdout: Readable;
  /** Resolves with the error output once it has succeeded; rejects with a {@link CommandError} if it failed. */
  ended: Promise<{ status: number; stderr: string }>;
  /** Stops it if it still runs. Resolves once it is gone, with the reason if it had already failed. */
  stop(): Promise<Error | null>;
}

export interface ProgramOptions {
  environment?: Record<string, string>;
  /** Exit statuses of success; 0 if left out. */
  statuses?: number[];
  /** As for `runCommand`: the program leads a session, and {@link RunningProgram.stop} ends its whole group. */
  ownSession?: boolean;
}

/** Starts a program with both ends as streams. Arguments reach it unchanged; secrets belong in `environment`. */
export function startProgram(
  [file, ...args]: readonly [string, ...string[]],
  { environment = {}, statuses = [0], ownSession = false }: ProgramOptions = {},
): RunningProgram {
  const child = spawn(file, args, {
    cwd: '/',
    env: { PATH, LC_ALL: 'C.UTF-8', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: ownSession,
  });
  const signalTo = (signal: 'SIGINT' | 'SIGKILL') => {
    if (ownSession && child.pid !== undefined) killGroup(child.pid, signal);
    else child.kill(signal);
  };
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MOST_STDERR);
  });
  // Attach a reader at once: Node discards unread output when the program ends.
  const stdout = child.stdout.pipe(new PassThrough({ highWaterMark: AHEAD_BYTES }));
  // A program that ends early closes the pipe; its exit status is what counts.
  child.stdin.on('error', () => {});
  const gone = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const ended = gone.then((status) => {
    if (status !== null && statuses.includes(status)) return { status, stderr };
    throw new CommandError(`${file} failed: ${stderr.trim() || 'it was killed'}`, {
      status,
      stdout: '',
      stderr,
    });
  });
  // The caller that waits gets the failure; until then it must not count as unhandled.
  ended.catch(() => {});
  return {
    stdin: child.stdin,
    stdout,
    ended,
    async stop() {
      stdout.resume();
      // A closed pipe can show the end a moment before the process is gone.
      const failure = await Promise.race([
        ended.then(asNull, asError),
        sleep(ENDING_MS, null, { ref: false }),
      ]);
      if (child.exitCode === null && child.signalCode === null) {
        // Survivors of the program keep its output open.
        child.once('exit', () => signalTo('SIGKILL'));
        signalTo('SIGINT');
        const kill = setTimeout(() => signalTo('SIGKILL'), GRACE_MS);
        await gone.catch(() => {});
        clearTimeout(kill);
      }
      child.stdin.destroy();
      return failure;
    },
  };
}

const asNull = () => null;
const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

/** Writes, and waits for room in the buffer. Rejects once the receiving program reads no more. */
export async function writeTo(stream: Writable, bytes: Buffer): Promise<void> {
  if (stream.destroyed) throw new Error('the receiving program has ended');
  if (stream.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      stream.off('drain', go).off('close', go);
      resolve();
    };
    stream.on('drain', go).on('close', go);
  });
}
