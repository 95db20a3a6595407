import { type ChildProcess, spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { PassThrough, pipeline, type Readable, type Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { SandboxStart } from './sandbox.ts';

export interface SandboxProcess {
  child: ChildProcess;
  /** Null: its standard input is one that no program can read. */
  stdin: Writable | null;
  stdout: Readable;
  stderr: Readable;
  /** Resolves when nothing of the sandbox runs any more, with its exit code; null if it was killed. */
  ended: Promise<number | null>;
  /** Ends all of it. */
  kill(): void;
}

/** Starts a program in a sandbox. `filter`: file with the filter of system calls. */
export async function startSandbox(
  { command, descriptors }: SandboxStart,
  filter: string,
  hasInput = true,
): Promise<SandboxProcess> {
  // Each sandbox reads it from its own position.
  const opened = await open(filter);
  const unreadable = hasInput ? null : await open('/dev/null', 'w');
  try {
    const [program, ...parameters] = command;
    const child = spawn(program, parameters, {
      env: { PATH: process.env.PATH ?? '' },
      // A Ctrl-C on the terminal would end it before running requests finish.
      detached: true,
      stdio: [unreadable?.fd ?? 'pipe', 'pipe', 'pipe', opened.fd, ...descriptors],
    });
    const { stdin } = child;
    if (child.stdout === null || child.stderr === null) throw new Error('no pipes');
    const stdout = kept(child.stdout);
    const stderr = kept(child.stderr);
    stdin?.on('error', () => undefined);
    const ended = new Promise<number | null>((resolve, reject) => {
      // Its output closes when nothing of it holds a file of the website any more.
      child.once('close', (code) => resolve(code));
      child.once('error', reject);
    });
    ended.catch(() => undefined);
    return { child, stdin, stdout, stderr, ended, kill: () => void child.kill('SIGKILL') };
  } finally {
    await opened.close();
    await unreadable?.close();
  }
}

/** Output that waits for its reader, who comes later. Node discards what no one reads when the program ends. */
function kept(output: Readable): Readable {
  return pipeline(output, new PassThrough(), () => undefined);
}

/** Logs the lines of a stream. Returns the last ones, which change with each line. */
export function followLines(stream: Readable, log: Logger, most = 20): readonly string[] {
  const last: string[] = [];
  createInterface({ input: stream }).on('line', (text) => {
    const line = text.slice(0, 1_000);
    log.debug({ line }, 'PHP process');
    last.push(line);
    if (last.length > most) last.shift();
  });
  return last;
}
