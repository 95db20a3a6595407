import { createHash, randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { requirePackagedFiles } from '../../wordpress/packaged-files.ts';

/** The file of the plugin that names its version. */
const VERSION_FILE = 'load.php';

/**
 * Copies the SQLite plugin of WordPress into a new folder below `folder`, once for each version. Returns that folder. A copy, because
 * the next `npm ci` removes the packaged files while websites run.
 */
export async function provideSqlitePlugin(folder: string): Promise<string> {
  const { sqlitePlugin } = requirePackagedFiles();
  const digest = createHash('sha256').update(await readFile(join(sqlitePlugin, VERSION_FILE)));
  const target = join(folder, `sqlite-${digest.digest('hex').slice(0, 16)}`);
  if ((await ifThere(stat(target))) !== null) return target;
  const scratch = join(folder, `.${randomUUID()}`);
  try {
    await mkdir(folder, { recursive: true });
    await cp(sqlitePlugin, scratch, { recursive: true });
    await rename(scratch, target);
  } catch (error) {
    await rm(scratch, { recursive: true, force: true });
    // Another process was faster.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
  return target;
}
