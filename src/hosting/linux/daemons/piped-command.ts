import { spawn } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { CommandError, type runCommand } from '../../../lib/run-command.ts';

const MOST_STDERR = 64 * 1024;

/**
 * Runs a program whose input or output is too large for memory. It reads the open file directly; its output goes to `read`.
 * Rejects like {@link runCommand}: with a {@link CommandError}, or with the signal's reason.
 */
export async function runPiped(
  file: string,
  args: readonly string[],
  options: {
    input?: FileHandle;
    environment?: Record<string, string>;
    read?: (stdout: Readable) => Promise<void>;
    signal?: AbortSignal | undefined;
  },
): Promise<void> {
  const { input, environment = {}, read, signal } = options;
  signal?.throwIfAborted();
  const child = spawn(file, args, {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', ...environment },
    stdio: [input?.fd ?? 'ignore', read ? 'pipe' : 'ignore', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', kill);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MOST_STDERR);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  try {
    const reading = read && child.stdout ? read(child.stdout) : undefined;
    // If the reader fails, the program would block on its output for ever.
    reading?.catch(kill);
    const [status] = await Promise.all([ended, reading]);
    signal?.throwIfAborted();
    if (status === 0) return;
    throw new CommandError(`${file} failed: ${stderr.trim() || 'it was killed'}`, {
      status,
      stdout: '',
      stderr,
    });
  } finally {
    signal?.removeEventListener('abort', kill);
  }
}
