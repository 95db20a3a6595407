import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';

/** Where Linux has files in memory. */
const MEMORY = '/dev/shm';
const LEAST_BYTES = 8 * 1024 ** 3;

/**
 * Lets this process and its children put temporary files into memory, if there is room and `TMPDIR` names no other folder. Tests with databases
 * take a quarter less processor time there, because nothing is written to a disk.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < LEAST_BYTES) return;
  const folder = mkdtempSync(`${MEMORY}/homeport-`);
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}
