import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { requirePlainFolder } from '../../embedded/host-folder/plain-folder.ts';
import type { PhpSite } from './php-sites.ts';
import { TEMPORARY } from './process/private-files.ts';

/** Prepares the folders of a website before its process starts, without leftovers of a process that was killed. */
export async function prepareFolders({
  private: folder,
  database,
}: Pick<PhpSite, 'private' | 'database'>): Promise<void> {
  const temporary = join(folder, 'tmp');
  for (const own of [folder, database]) await requirePlainFolder(own);
  try {
    // Not recursive: that would bring back the folder of a deleted website.
    await mkdir(temporary, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  await requirePlainFolder(temporary);
  for (const name of await readdir(temporary)) {
    if (TEMPORARY.test(name)) await rm(join(temporary, name), { recursive: true, force: true });
  }
}
