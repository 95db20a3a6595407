import { lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import { BrokenWebsiteError } from '../../contract/errors.ts';

/**
 * Rejects unless `path` is a folder and no symbolic link, which could lead to files of another website.
 *
 * @throws ENOENT if it is missing
 */
export async function requirePlainFolder(path: string): Promise<void> {
  if ((await lstat(path)).isDirectory()) return;
  throw new BrokenWebsiteError(`${basename(path)} of the website is not a folder. Replace it with one.`);
}
