import { spawn } from 'node:child_process';
import { once } from 'node:events';

const PATIENCE_SECONDS = 30;

/**
 * Runs `work` while holding the lock file against all other processes of the machine. It is a kernel lock (flock(2)), so
 * it is free at once if its holder is killed. Rejects if the lock is still taken after `patienceSeconds`.
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
 * Node has no flock(2), so a child holds the lock. `flock` starts `cat`, which echoes a line once the lock is held, and ends
 * when its input closes, so also when this process ends.
 */
async function lock(path: string, patienceSeconds: number): Promise<() => Promise<void>> {
  const options = ['--wait', `${patienceSeconds}`, '--no-fork'];
  const holder = spawn('/usr/bin/flock', [...options, path, '/usr/bin/cat'], { stdio: 'pipe' });
  let complaint = '';
  holder.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  // If the holder has ended, `ended` reports it.
  holder.stdin.on('error', () => {});
  const ended = once(holder, 'close');
  ended.catch(() => {});
  holder.stdin.write('\n');
  const held = await Promise.race([once(holder.stdout, 'data').then(() => true), ended.then(() => false)]);
  if (!held) {
    const why = complaint.trim() || `another process has held it for ${patienceSeconds} s`;
    throw new Error(`could not take the lock ${path}: ${why}`);
  }
  return async () => {
    holder.stdin.end();
    await ended;
  };
}
