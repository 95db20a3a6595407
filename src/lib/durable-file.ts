import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HOUR_MS } from './durations.ts';
import { ifThere } from './if-there.ts';

const TEMPORARY = '.tmp';
const ABANDONED_MS = HOUR_MS;

/** Whether it is the name of a file that {@link writeDurably} had not finished. */
export function isTemporary(fileName: string): boolean {
  return fileName.startsWith('.') && fileName.endsWith(TEMPORARY);
}

/**
 * Writes a file so that whoever reads it, at any moment and after any crash, finds the old content or the new, whole.
 * Readable by the owner alone.
 */
export async function writeDurably(path: string, content: string): Promise<void> {
  await replaceAtomically(path, content);
  await syncFolder(dirname(path));
}

/** The same, for what need not outlive a failure of the machine: it spares the disk. */
export async function writeAtomically(path: string, content: string): Promise<void> {
  await replaceAtomically(path, content, { sync: false });
}

/**
 * Puts a whole new file, with its mode and group, in the place of one. `gid` left out: the process's own. With `sync` its content is on
 * disk before; its name only after {@link syncFolder}.
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

/** Removes from a folder what writings that were interrupted left in it. */
export async function removeAbandoned(folder: string, now: Date): Promise<void> {
  for (const name of (await readdir(folder)).filter(isTemporary)) {
    const path = join(folder, name);
    const written = await modifiedAt(path);
    // A younger one may be another process's, which is about to rename it.
    if (written !== null && now.getTime() - written > ABANDONED_MS) await rm(path, { force: true });
  }
}

/** In milliseconds; null if it is gone. */
async function modifiedAt(path: string): Promise<number | null> {
  return (await ifThere(stat(path)))?.mtimeMs ?? null;
}

/** Deletes a file for good; one that is not there is success. */
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
