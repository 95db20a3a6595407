import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { limitConcurrency } from '../../../lib/concurrency.ts';

/**
 * Calls of all copies together. libuv has four threads for files, and commits of SQLite are synced in one of them. On a disk that hangs or is
 * slow, copies would take all four, and no write would be answered.
 */
const CALLS_AT_ONCE = 2;
const inTurn = limitConcurrency(CALLS_AT_ONCE);

/**
 * Copies a folder of folders and files with their modes, shared with the original where the file system can. Fills `to` if it exists.
 * A new website waits for it: `cp` of Node checks every path several times, and takes five times as long.
 */
export async function copyTree(from: string, to: string): Promise<void> {
  const [{ mode }, entries] = await Promise.all([
    inTurn(() => stat(from)),
    inTurn(() => readdir(from, { withFileTypes: true })),
    inTurn(() => mkdir(to, { recursive: true, mode: 0o700 })),
  ]);
  await Promise.all(
    entries.map((entry) => {
      const [source, place] = [join(from, entry.name), join(to, entry.name)];
      return entry.isDirectory()
        ? copyTree(source, place)
        : inTurn(() => copyFile(source, place, constants.COPYFILE_FICLONE));
    }),
  );
  await inTurn(() => chmod(to, mode & 0o777));
}
