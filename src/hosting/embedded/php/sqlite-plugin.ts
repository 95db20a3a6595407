import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { sqlitePluginArchive } from './required-packages.ts';
import { zipEntries } from './zip-entries.ts';

/** Unpacks the SQLite plugin of WordPress into a folder of its own below `folder`, once for each version. Returns that folder. */
export async function provideSqlitePlugin(folder: string): Promise<string> {
  const archive = await readFile(sqlitePluginArchive());
  const target = join(folder, `sqlite-${createHash('sha256').update(archive).digest('hex').slice(0, 16)}`);
  if ((await ifThere(stat(target))) !== null) return target;
  const scratch = join(folder, `.${randomUUID()}`);
  try {
    for (const { name, content } of zipEntries(archive)) {
      // Without the archive's uppermost folder.
      const path = join(scratch, name.slice(name.indexOf('/') + 1));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    }
    await rename(scratch, target);
  } catch (error) {
    await rm(scratch, { recursive: true, force: true });
    // Another process was faster.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
  return target;
}
