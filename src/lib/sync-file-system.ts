import { runCommand } from './run-command.ts';

/** Waits until the whole file system of `path` is on the disk. For a tree of many files, before its rename. Does nothing but on Linux. */
export async function syncFileSystem(path: string): Promise<void> {
  if (process.platform === 'linux') await runCommand('sync', ['--file-system', path]);
}
