import { spawn } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../machine/run-command.ts';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const MOST_STDERR = 64 * 1024;
const AHEAD_BYTES = 1024 * 1024;
/** How long a program that is told to end may take to tidy up: restic removes its lock. */
const GRACE_MS = 5_000;
const ENDING_MS = 200;

/** A program whose input and output are too large for memory. */
export interface RunningProgram {
  stdin: Writable;
  stdout: Readable;
  /** Resolves when it has ended well, with what it wrote to its standard error; else rejects with a {@link CommandError}. */
  ended: Promise<{ status: number; stderr: string }>;
  /** Ends it, if it still runs. Resolves once it is gone, with why it had failed before, if it had. */
  stop(): Promise<Error | null>;
}

/** Starts a program with both ends as streams. Arguments reach it as they are; secrets go into `environment`. */
export function startProgram(
  [file, ...args]: readonly [string, ...string[]],
  { environment = {}, statuses = [0] }: { environment?: Record<string, string>; statuses?: number[] } = {},
): RunningProgram {
  const child = spawn(file, args, {
    cwd: '/',
    env: { PATH, LC_ALL: 'C.UTF-8', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MOST_STDERR);
  });
  // Somebody must take its output from the beginning: once it has ended, Node throws away what nobody takes.
  const stdout = child.stdout.pipe(new PassThrough({ highWaterMark: AHEAD_BYTES }));
  // One that ends early closes the pipe; its status tells what matters.
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
  // Whoever waits for it gets the failure; until then it must not count as unhandled.
  ended.catch(() => {});
  return {
    stdin: child.stdin,
    stdout,
    ended,
    async stop() {
      stdout.resume();
      // Whoever stops it may have been told by a closed pipe, a moment before the program is gone.
      const failure = await Promise.race([
        ended.then(asNull, asError),
        sleep(ENDING_MS, null, { ref: false }),
      ]);
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGINT');
        const kill = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
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

/** Writes, and waits until there is room for more. Rejects once the program at the other end reads no more. */
export async function writeTo(stream: Writable, bytes: Buffer): Promise<void> {
  if (stream.destroyed) throw new Error('the program that should take it has ended');
  if (stream.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      stream.off('drain', go).off('close', go);
      resolve();
    };
    stream.on('drain', go).on('close', go);
  });
}
