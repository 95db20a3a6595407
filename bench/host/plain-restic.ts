import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import { runCommand } from '../../src/lib/run-command.ts';

/** restic as used by hand, with a separate repository and cache. */
export interface PlainRestic {
  /** Backs up folders and files. Returns the snapshot id. */
  backUp(paths: string[]): Promise<string>;
  /** Reads a whole snapshot back and discards it. */
  readBack(snapshot: string): Promise<void>;
  /** Restores a snapshot into a new folder. */
  restore(snapshot: string, folder: string): Promise<void>;
}

const RESTIC = '/usr/bin/restic';
const MOST_MS = 10 * MINUTE_MS;

/** Creates a repository in `folder`. */
export async function createPlainRestic(folder: string): Promise<PlainRestic> {
  const environment = {
    RESTIC_REPOSITORY: join(folder, 'repository'),
    RESTIC_PASSWORD: 'a-password-for-the-bench-only',
    RESTIC_CACHE_DIR: join(folder, 'cache'),
  };
  const run = (...args: string[]) => runCommand(RESTIC, args, { environment, timeoutMs: MOST_MS });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await run('init', '--quiet');

  return {
    async backUp(paths) {
      const { stdout } = await run('backup', '--json', '--', ...paths);
      const id = /"snapshot_id":"([0-9a-f]+)"/.exec(stdout)?.[1];
      if (id === undefined) throw new Error('restic did not report a snapshot id');
      return id;
    },
    async readBack(snapshot) {
      const child = spawn(RESTIC, ['dump', snapshot, '/'], {
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      child.stdout.resume();
      await finished(child.stdout);
      const [code] = await ended;
      if (code !== 0) throw new Error(`restic dump ended with ${code}`);
    },
    async restore(snapshot, target) {
      await rm(target, { recursive: true, force: true });
      await run('restore', '--quiet', snapshot, '--target', target);
    },
  };
}
