import { statfs } from 'node:fs/promises';
import { HOUR_MS } from './durations.ts';
import { runCommand } from './run-command.ts';

/** A slow disk may have gigabytes to write, also of other programs. */
const LIMIT_MS = HOUR_MS;

/** The type of a file system in memory (tmpfs), which has no disk. statfs(2) */
const IN_MEMORY = 0x01_02_19_94;

/** Waits until the whole file system of `path` is on the disk. For a tree of many files, before its rename. Does nothing but on Linux. */
export async function syncFileSystem(path: string): Promise<void> {
  if (process.platform !== 'linux' || (await isInMemory(path))) return;
  // BusyBox knows the short option only.
  await runCommand('sync', ['-f', path], { timeoutMs: LIMIT_MS });
}

/** Whether a path is on a tmpfs. Linux only. */
export async function isInMemory(path: string): Promise<boolean> {
  return (await statfs(path)).type === IN_MEMORY;
}
