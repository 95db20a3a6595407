import { chmod, copyFile, link, mkdir, readdir, readlink, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Fills the folder `to` with the content of `from`: folders of the same modes, the symbolic links, and hard links to the files. Leaves out
 * pipes and devices, as backups do. `leftOut`: names at the top.
 */
export async function linkTree(from: string, to: string, leftOut = NOTHING): Promise<void> {
  const { mode } = await stat(from);
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (leftOut.has(entry.name)) continue;
    const [source, place] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkTree(source, place);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), place);
    else if (entry.isFile()) await linkFile(source, place);
  }
  await chmod(to, mode & 0o777);
  await syncFolder(to);
}

/** A file system without hard links gets a copy. */
async function linkFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK')) throw error;
    await copyFile(from, to);
  }
}
