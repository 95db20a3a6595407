import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmdirSync, rmSync, statfsSync } from 'node:fs';

/** Where Linux has files in memory. */
const MEMORY = '/dev/shm';
const LEAST_BYTES = 8 * 1024 ** 3;
/** Where the folders of test hosts are if the memory has no room. All parents belong to root, as sshd and the sandbox require. */
const DISK = '/srv';

function hasRoom(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= LEAST_BYTES;
}

/**
 * Lets this process and its children put temporary files into memory, if there is room and `TMPDIR` names no other folder. Tests with databases
 * take a quarter less processor time there, because nothing is written to a disk.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return;
  const folder = mkdtempSync(`${MEMORY}/homeport-`);
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/** Lets the hosts of this process and its children keep their websites and databases in memory, if there is room. Needs root. */
export function keepHostsInMemory(): void {
  if (process.env.HOMEPORT_TEST_HOSTS !== undefined || !hasRoom()) return;
  const folder = mkdtempSync(`${DISK}/hpt-memory-`);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', folder]);
  if (status !== 0) {
    rmdirSync(folder);
    return;
  }
  process.env.HOMEPORT_TEST_HOSTS = folder;
  process.once('exit', () => {
    // Lazily, because a process of a failed test may still use it.
    spawnSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  });
}

/** The folder in which test hosts create their own. */
export const hostsFolder = (): string => process.env.HOMEPORT_TEST_HOSTS ?? DISK;
