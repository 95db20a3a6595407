import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceAtomically, syncFolder } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';

/** Reads a text of the system; one that is not there is empty. */
export async function readSystemFile(path: string): Promise<string> {
  return (await ifThere(readFile(path, 'utf8'))) ?? '';
}

export interface SystemFileOptions {
  mode: number;
  /** The group that it belongs to; root's if left out. The owner is root. */
  gid?: number;
  /** False for what is made anew after a restart of the machine anyway. */
  lasting?: boolean;
}

/**
 * Writes a file that programs of other users read: whoever reads it finds the old text or the new one,
 * whole, and never with another mode or owner than it is to have.
 */
export async function writeSystemFile(
  path: string,
  text: string | Buffer,
  { mode, gid = 0, lasting = true }: SystemFileOptions,
): Promise<void> {
  await replaceAtomically(path, text, { sync: lasting, mode, ...(gid === 0 ? {} : { gid }) });
  if (lasting) await syncFolder(dirname(path));
}
