import { constants } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { PermanentHostError } from '../../contract/host.ts';

export interface FolderState {
  isFolder: boolean;
  uid: number;
  gid: number;
  /** Permission bits only. */
  mode: number;
}

/** What is at a path, a link not followed; null for nothing. */
export async function folderState(path: string): Promise<FolderState | null> {
  const stats = await ifThere(lstat(path));
  if (stats === null) return null;
  return { isFolder: stats.isDirectory(), uid: stats.uid, gid: stats.gid, mode: stats.mode & 0o7777 };
}

/**
 * Sees that there is a folder with this owner and mode, made where there is none. The folder above must be there, and root's. Whatever
 * else is at the path, a link for one, is refused with a {@link PermanentHostError}. `keepMode`: only a new one gets the mode.
 * True if it was made.
 */
export async function ensureFolder(
  path: string,
  { uid, gid, mode }: { uid: number; gid: number; mode: number },
  { keepMode = false }: { keepMode?: boolean } = {},
): Promise<boolean> {
  const isNew = await makeFolder(path);
  const folder = await openFolder(path);
  try {
    const present = await folder.stat();
    if (present.uid !== uid || present.gid !== gid) await folder.chown(uid, gid);
    if ((isNew || !keepMode) && (present.mode & 0o7777) !== mode) await folder.chmod(mode);
    return isNew;
  } finally {
    await folder.close();
  }
}

/** Makes a folder of the process's own, closed to others; false if there is something of that name. */
export async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** By an open folder and not by its path, which might lead elsewhere a moment later. */
async function openFolder(path: string) {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (!hasCode(error, 'ELOOP', 'ENOTDIR')) throw error;
    throw new PermanentHostError(`${path} is no folder: move away what is there`);
  }
}
