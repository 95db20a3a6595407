import { HOUR_MS } from './durations.ts';
import { runCommand } from './run-command.ts';

/** A slow disk may have gigabytes to write, also of other programs. */
const LIMIT_MS = HOUR_MS;

/** Waits until the whole file system of `path` is on the disk. For a tree of many files, before its rename. Does nothing but on Linux. */
export async function syncFileSystem(path: string): Promise<void> {
  // BusyBox knows the short option only.
  if (process.platform === 'linux') await runCommand('sync', ['-f', path], { timeoutMs: LIMIT_MS });
}
