import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from './archive-extract.ts';

const TEMPORARY = '.tmp';

/** Whether it is the name of a file that {@link writeDurably} had not finished. */
export function isTemporary(fileName: string): boolean {
  return fileName.startsWith('.') && fileName.endsWith(TEMPORARY);
}

/**
 * Writes a file so that whoever reads it, at any moment and after any crash, finds the old content or the new, whole.
 * Readable by the owner alone.
 */
export async function writeDurably(path: string, content: string): Promise<void> {
  const temporary = join(dirname(path), `.${randomUUID()}${TEMPORARY}`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Deletes a file for good; one that is not there is success. */
export async function removeDurably(path: string): Promise<void> {
  await rm(path, { force: true });
  await syncFolder(dirname(path));
}
