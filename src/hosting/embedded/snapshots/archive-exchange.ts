import { chmod, lstat, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { isGone } from './archive-tree.ts';

/**
 * Replacing a folder takes two renames: the old one aside, then the new one into its place. The folders that exist show where a process
 * died in between.
 *
 * | folder | new | old | state | what {@link recoverExchange} does |
 * |---|---|---|---|---|
 * | yes | –   | –   | idle | nothing |
 * | any | yes | –   | died while the new one was filled | removes new |
 * | –   | any | yes | died between the renames | puts old back, removes new |
 * | yes | –   | yes | died before old was removed | removes old |
 * | yes | yes | yes | died between the renames, then the folder was recreated | puts old back, keeps the recreated folder under a third name, removes new |
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

/** Replaces `folder` (which may be missing) by `next` and removes the old one. */
export async function exchangeFolders({ folder, next, old }: ExchangeFolders): Promise<void> {
  if (await exists(folder)) await rename(folder, old);
  await rename(next, folder);
  await syncFolder(dirname(folder));
  await removeTree(old);
}

/** Completes or reverts an interrupted exchange. Call this before any other use of the folder. */
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

/** Removes a folder with its content, even if modes forbid it. A missing folder is a success. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    await openFolders(Buffer.from(path));
    await rm(path, { recursive: true, force: true });
  }
}

/** Gives the owner read, write and search permission on a folder and all folders below it. */
async function openFolders(folder: Buffer): Promise<void> {
  await chmod(folder, 0o700);
  for (const child of await readdir(folder, { withFileTypes: true, encoding: 'buffer' })) {
    if (child.isDirectory()) await openFolders(Buffer.concat([folder, Buffer.from('/'), child.name]));
  }
}
