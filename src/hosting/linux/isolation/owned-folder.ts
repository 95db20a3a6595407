import { constants } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { PermanentHostError } from '../../contract/errors.ts';

/** Modes of the folders of a website. The web server reads the document root, and only the website reads its private folder. */
export const WEBSITE_MODES = { htdocs: 0o755, private: 0o700 } as const;

export interface FolderState {
  isFolder: boolean;
  uid: number;
  gid: number;
  /** Permission bits only. */
  mode: number;
}

/** The state of what is at the path, without following a link; null if nothing is. */
export async function folderState(path: string): Promise<FolderState | null> {
  const stats = await ifThere(lstat(path));
  if (stats === null) return null;
  return { isFolder: stats.isDirectory(), uid: stats.uid, gid: stats.gid, mode: stats.mode & 0o7777 };
}

/**
 * Creates the folder, or corrects its owner and mode. The parent folder must exist and belong to root. Anything but a folder
 * at the path, such as a link, causes a {@link PermanentHostError}. With `keepMode`, only a new folder gets the mode.
 * True if the folder is new.
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

/** Corrects the mode of an existing folder. Rejects as {@link ensureFolder}. */
export async function setFolderMode(path: string, mode: number): Promise<void> {
  const folder = await openFolder(path);
  try {
    await folder.chmod(mode);
  } finally {
    await folder.close();
  }
}

/** Creates a folder that only this process's user can read; false if the name is taken. */
export async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Opens the folder, because its path could lead elsewhere a moment later. */
async function openFolder(path: string) {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (!hasCode(error, 'ELOOP', 'ENOTDIR')) throw error;
    throw new PermanentHostError(`${path} is not a folder: move it away`);
  }
}
