import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HOUR_MS } from './durations.ts';
import { ifThere } from './if-there.ts';

const TEMPORARY = '.tmp';
const ABANDONED_MS = HOUR_MS;

/** Whether this is the name of a file that {@link replaceAtomically} has not renamed yet. */
export function isTemporary(fileName: string): boolean {
  return fileName.startsWith('.') && fileName.endsWith(TEMPORARY);
}

/**
 * Replaces a file. Readers find the old or the new content, complete, at any time and after any crash. Only the owner can read it.
 */
export async function writeDurably(path: string, content: string): Promise<void> {
  await replaceAtomically(path, content);
  await syncFolder(dirname(path));
}

/** Like {@link writeDurably} without syncing the disk, for content that a power cut may lose. */
export async function writeAtomically(path: string, content: string): Promise<void> {
  await replaceAtomically(path, content, { sync: false });
}

/**
 * Replaces a file, with its mode and group, in one step. `gid` defaults to the group of the process. With `sync` the content is on disk
 * before the rename; the name is on disk only after {@link syncFolder}.
 */
export async function replaceAtomically(
  path: string,
  content: string | Buffer,
  { sync = true, mode = 0o600, gid }: { sync?: boolean; mode?: number; gid?: number } = {},
): Promise<void> {
  const temporary = join(dirname(path), `.${randomUUID()}${TEMPORARY}`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(content);
      if (gid !== undefined) await file.chown(-1, gid);
      if (mode !== 0o600) await file.chmod(mode);
      if (sync) await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Removes temporary files of interrupted writes from a folder. */
export async function removeAbandoned(folder: string, now: Date): Promise<void> {
  for (const name of (await readdir(folder)).filter(isTemporary)) {
    const path = join(folder, name);
    const written = await modifiedAt(path);
    // Another process may be about to rename a younger one.
    if (written !== null && now.getTime() - written > ABANDONED_MS) await rm(path, { force: true });
  }
}

/** Removes temporary files of interrupted writes from a folder that no one else writes to now. */
export async function removeTemporary(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter(isTemporary))
    await rm(join(folder, name), { force: true });
}

/** Milliseconds; null if the file is gone. */
async function modifiedAt(path: string): Promise<number | null> {
  return (await ifThere(stat(path)))?.mtimeMs ?? null;
}

/** Deletes a file so that it stays deleted after a power cut. A missing file is success. */
export async function removeDurably(path: string): Promise<void> {
  await rm(path, { force: true });
  await syncFolder(dirname(path));
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: Buffer | string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
