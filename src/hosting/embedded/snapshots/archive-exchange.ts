import { chmod, lstat, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { isGone } from './archive-tree.ts';

/**
 * Exchanging a folder for another takes two renames: the old one aside, the new one into its place. What a process
 * that died in between leaves behind is told by which of the folders are there:
 *
 * | folder | new | old | state | what {@link recoverExchange} does |
 * |---|---|---|---|---|
 * | yes | –   | –   | at rest | nothing |
 * | any | yes | –   | died while the new one was filled | removes new |
 * | –   | any | yes | died between the renames | puts old back, removes new |
 * | yes | –   | yes | died before old was removed | removes old |
 * | yes | yes | yes | died between the renames, and then somebody made the folder anew | puts old back, keeps what was made under a third name, removes new |
 */
export interface ExchangeFolders {
  folder: string;
  /** Filled by the caller before {@link exchangeFolders}. */
  next: string;
  old: string;
  stray: string;
}

export function exchangeFoldersOf(folder: string): ExchangeFolders {
  const beside = (suffix: string) => join(dirname(folder), `.${basename(folder)}.${suffix}`);
  return {
    folder,
    next: beside('restore-new'),
    old: beside('restore-old'),
    stray: beside('restore-stray'),
  };
}

/** Puts `next` into the place of `folder` (which need not be there) and removes what was there. */
export async function exchangeFolders({ folder, next, old }: ExchangeFolders): Promise<void> {
  if (await exists(folder)) await rename(folder, old);
  await rename(next, folder);
  await syncFolder(dirname(folder));
  await removeTree(old);
}

/** Ends what an interrupted exchange began. To be called before anything else is done with the folder. */
export async function recoverExchange({ folder, next, old, stray }: ExchangeFolders): Promise<void> {
  if (await exists(old)) {
    const isDone = (await exists(folder)) && !(await exists(next));
    if (!isDone) {
      if (await exists(folder)) {
        await removeTree(stray);
        await rename(folder, stray);
      }
      await rename(old, folder);
      await syncFolder(dirname(folder));
    } else {
      await removeTree(old);
    }
  }
  await removeTree(next);
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Removes a folder with all it holds, also where modes forbid it. That it is not there is success. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    await openFolders(Buffer.from(path));
    await rm(path, { recursive: true, force: true });
  }
}

/** Lets the owner read, enter and change a folder and all folders below it. */
async function openFolders(folder: Buffer): Promise<void> {
  await chmod(folder, 0o700);
  for (const child of await readdir(folder, { withFileTypes: true, encoding: 'buffer' })) {
    if (child.isDirectory()) await openFolders(Buffer.concat([folder, Buffer.from('/'), child.name]));
  }
}
