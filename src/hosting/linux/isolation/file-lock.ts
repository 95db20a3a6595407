import { spawn } from 'node:child_process';
import { once } from 'node:events';

const PATIENCE_SECONDS = 30;

/**
 * Does `work` while no other process of the machine that asks for the same lock file does its own. The lock is the kernel's
 * (flock(2)), so that one whose holder was killed is free again at once. Rejects if it is not to be had within
 * `patienceSeconds`.
 */
export async function withFileLock<Result>(
  path: string,
  work: () => Promise<Result>,
  patienceSeconds = PATIENCE_SECONDS,
): Promise<Result> {
  const release = await lock(path, patienceSeconds);
  try {
    return await work();
  } finally {
    await release();
  }
}

/**
 * Node has no flock(2), so a child holds the lock: `cat`, which answers once `flock` has it, and ends with its input, hence
 * with this process too.
 */
async function lock(path: string, patienceSeconds: number): Promise<() => Promise<void>> {
  const options = ['--wait', `${patienceSeconds}`, '--no-fork'];
  const holder = spawn('/usr/bin/flock', [...options, path, '/usr/bin/cat'], { stdio: 'pipe' });
  let complaint = '';
  holder.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  // Of a holder that has ended its end tells.
  holder.stdin.on('error', () => {});
  const ended = once(holder, 'close');
  ended.catch(() => {});
  holder.stdin.write('\n');
  const held = await Promise.race([once(holder.stdout, 'data').then(() => true), ended.then(() => false)]);
  if (!held) {
    const why = complaint.trim() || `another process has held it for ${patienceSeconds} s`;
    throw new Error(`the lock ${path} is not to be had: ${why}`);
  }
  return async () => {
    holder.stdin.end();
    await ended;
  };
}
