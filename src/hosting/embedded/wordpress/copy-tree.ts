import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Copies a folder of folders and files with their modes, shared with the original where the file system can. Fills `to` if it exists.
 * A new website waits for it: `cp` of Node checks every path several times, and takes five times as long.
 */
export async function copyTree(from: string, to: string): Promise<void> {
  const [{ mode }, entries] = await Promise.all([
    stat(from),
    readdir(from, { withFileTypes: true }),
    mkdir(to, { recursive: true, mode: 0o700 }),
  ]);
  await Promise.all(
    entries.map((entry) => {
      const [source, place] = [join(from, entry.name), join(to, entry.name)];
      return entry.isDirectory()
        ? copyTree(source, place)
        : copyFile(source, place, constants.COPYFILE_FICLONE);
    }),
  );
  await chmod(to, mode & 0o777);
}
