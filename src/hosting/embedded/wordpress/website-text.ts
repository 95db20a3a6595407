import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasCode } from '../../../lib/error-code.ts';

/** A website can put folders, links and pipes in place of a plain file. Opening them fails so. */
const OTHERS = ['ELOOP', 'ENXIO', 'EISDIR', 'ENOTDIR', 'EACCES'];

/**
 * Reads a text that the website can replace by anything. Null if it is not a plain file of at most `mostBytes`.
 *
 * @throws ENOENT if it is missing
 */
export async function readWebsiteText(path: string, mostBytes: number): Promise<string | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > mostBytes) return null;
      // The website can still write to it.
      const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (hasCode(error, ...OTHERS)) return null;
    throw error;
  }
}
