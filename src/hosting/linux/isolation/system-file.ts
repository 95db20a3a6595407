import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceAtomically, syncFolder } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';

/** Reads a system text file; a missing one is empty. */
export async function readSystemFile(path: string): Promise<string> {
  return (await ifThere(readFile(path, 'utf8'))) ?? '';
}

export interface SystemFileOptions {
  mode: number;
  /** Group of the file; root's if left out. The owner is root. */
  gid?: number;
  /** False for files that are made again after a restart of the machine. */
  lasting?: boolean;
}

/**
 * Writes a file that programs of other users read. They see the old or the new text, whole, and always with the right mode
 * and owner.
 */
export async function writeSystemFile(
  path: string,
  text: string | Buffer,
  { mode, gid = 0, lasting = true }: SystemFileOptions,
): Promise<void> {
  await replaceAtomically(path, text, { sync: lasting, mode, ...(gid === 0 ? {} : { gid }) });
  if (lasting) await syncFolder(dirname(path));
}
