import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Attributes, InputAttributes } from 'ssh2';
import { DAY_MS } from '../../../lib/durations.ts';
import { blockBytes } from '../../contract/install-limits.ts';
import { refusal } from './sftp-status.ts';

const MAX_UINT32 = 2 ** 32 - 1;

/** The largest file that may be created, regardless of the disk quota. */
export const MAX_FILE_BYTES = 64 * 1024 ** 3;

/** The SFTP attributes of a file; times in whole seconds. */
export function attributesOf(stats: Stats): Attributes {
  return {
    mode: stats.mode,
    uid: stats.uid,
    gid: stats.gid,
    size: stats.size,
    atime: seconds(stats.atimeMs),
    mtime: seconds(stats.mtimeMs),
  };
}

/** Protocol version 3 has 32 unsigned bits for a time. */
function seconds(ms: number): number {
  return Math.min(Math.max(Math.floor(ms / 1000), 0), MAX_UINT32);
}

/** For responses that require attributes but have none. */
export const NO_ATTRIBUTES: Attributes = { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 };

/**
 * The permissions for a requested `mode`: nine bits, never setuid or similar. The owner (the platform) keeps access, so it can serve, back
 * up and delete the file.
 */
export function permittedMode(mode: number, kind: 'file' | 'folder'): number {
  return (mode & 0o777) | (kind === 'file' ? 0o600 : 0o700);
}

/**
 * Sets permissions, times and a file's length. `takeBytes` rejects if the disk quota does not allow a file to grow that much.
 */
export async function changeAttributes(
  file: FileHandle,
  wanted: InputAttributes,
  takeBytes: (bytes: number) => Promise<void>,
): Promise<void> {
  const stats = await file.stat();
  const { size, mode, atime, mtime, uid, gid } = wanted;
  if ((uid !== undefined && uid !== stats.uid) || (gid !== undefined && gid !== stats.gid)) {
    throw refusal.denied('The owner of files cannot be changed');
  }
  if (size !== undefined) {
    if (!stats.isFile()) throw refusal.failed('Only files have a length');
    if (size > MAX_FILE_BYTES) throw refusal.failed('The file would become too large');
    await takeBytes(blockBytes(size) - blockBytes(stats.size));
    await file.truncate(size);
  }
  if (mode !== undefined) {
    await file.chmod(permittedMode(Number(mode), stats.isDirectory() ? 'folder' : 'file'));
  }
  if (atime !== undefined && mtime !== undefined) await file.utimes(atime, mtime);
}

const HALF_A_YEAR_MS = 182 * DAY_MS;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A line as printed by `ls -l`, in UTC. Old clients display it unchanged. */
export function longName(name: string, stats: Stats, owner: string, now: Date): string {
  const { mtime } = stats;
  const day = `${MONTHS[mtime.getUTCMonth()]} ${String(mtime.getUTCDate()).padStart(2)}`;
  const isRecent = Math.abs(now.getTime() - mtime.getTime()) < HALF_A_YEAR_MS;
  const clock = isRecent ? mtime.toISOString().slice(11, 16) : String(mtime.getUTCFullYear()).padStart(5);
  const who = owner.slice(0, 8).padEnd(8);
  const links = String(stats.nlink).padStart(4);
  return `${typeLetter(stats)}${permissions(stats.mode)} ${links} ${who} ${who} ${String(stats.size).padStart(8)} ${day} ${clock} ${name}`;
}

function typeLetter(stats: Stats): string {
  if (stats.isDirectory()) return 'd';
  if (stats.isSymbolicLink()) return 'l';
  return stats.isFile() ? '-' : 's';
}

function permissions(mode: number): string {
  return Array.from('rwxrwxrwx', (letter, i) => ((mode >> (8 - i)) & 1 ? letter : '-')).join('');
}
