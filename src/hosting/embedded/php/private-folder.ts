import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { requirePlainFolder } from '../host-folder/plain-folder.ts';

const LONGEST_LOG = 8 * 1024 * 1024;
/** How PHP names the uploads that it has not passed on. */
const UPLOAD = /^php\w{6,}$/;

/** Prepares the private folder of a website before its process starts: without leftovers of ended threads and with a log that ends. */
export async function preparePrivateFolder(folder: string): Promise<void> {
  const temporary = join(folder, 'tmp');
  await requirePlainFolder(folder);
  try {
    // Not recursive: that would bring back the folder of a deleted website.
    await mkdir(temporary, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  await requirePlainFolder(temporary);
  for (const name of await readdir(temporary)) {
    if (UPLOAD.test(name)) await rm(join(temporary, name), { recursive: true, force: true });
  }
  const log = join(folder, 'php-error.log');
  const size = (await ifThere(lstat(log)))?.size ?? 0;
  if (size > LONGEST_LOG) await rename(log, `${log}.1`);
}
