import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../src/lib/error-code.ts';
import { runs } from '../src/lib/running-process.ts';

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

/** A file in such a folder: the process that removes it. */
const OWNER = '.process';

const own = (folder: string) => writeFileSync(join(folder, OWNER), `${process.pid}`);

/** The process that removes a folder; null if it is none of ours. */
function ownerOf(folder: string): number | null {
  try {
    if (statSync(folder).uid !== process.getuid?.()) return null;
    return Number(readFileSync(join(folder, OWNER), 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}

/** Removes what killed processes could not remove. It would hold memory until the machine restarts. */
export function removeAbandoned(parent: string, prefix: string, remove: (folder: string) => void): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(parent, name);
    const owner = ownerOf(folder);
    if (owner !== null && !runs(owner)) remove(folder);
  }
}

const removeFiles = (folder: string) => rmSync(folder, { recursive: true, force: true });

/**
 * Lets this process and its children put temporary files into memory, if there is room and `TMPDIR` names no other folder. Tests with databases
 * take a quarter less processor time there, because nothing is written to a disk.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return;
  const prefix = 'homeport-';
  removeAbandoned(MEMORY, prefix, removeFiles);
  if (!hasRoom()) return;
  const folder = mkdtempSync(join(MEMORY, prefix));
  own(folder);
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  process.once('exit', () => removeFiles(folder));
}

/** Lazily, because a process of a failed test may still use it. */
function unmount(folder: string): void {
  spawnSync('umount', ['--lazy', folder]);
  removeFiles(folder);
}

/** Lets the hosts of this process and its children keep their websites and databases in memory, if there is room. Needs root. */
export function keepHostsInMemory(): void {
  if (process.env.HOMEPORT_TEST_HOSTS !== undefined) return;
  const prefix = 'hpt-memory-';
  removeAbandoned(DISK, prefix, unmount);
  if (!hasRoom()) return;
  const folder = mkdtempSync(join(DISK, prefix));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', folder]);
  if (status !== 0) {
    removeFiles(folder);
    return;
  }
  own(folder);
  process.env.HOMEPORT_TEST_HOSTS = folder;
  process.once('exit', () => unmount(folder));
}

/** The folder in which test hosts create their own. */
export const hostsFolder = (): string => process.env.HOMEPORT_TEST_HOSTS ?? DISK;
