import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requirePackagedFiles } from '../../src/hosting/wordpress/packaged-files.ts';
import { runCommand } from '../../src/lib/run-command.ts';

/** Folder of the packaged WordPress. Tests must not change it. */
export const wordpressCore = (): string => requirePackagedFiles().wordpress;

/** Copies a core to `folder` as another version, with database version `databaseVersion` if given. */
export async function copyAsVersion(
  core: string,
  folder: string,
  version: string,
  databaseVersion?: number,
): Promise<void> {
  // Node needs four times the processor time for thousands of files.
  await runCommand('cp', ['-Rp', core, folder]);
  const file = join(folder, 'wp-includes/version.php');
  const text = (await readFile(file, 'utf8')).replace(
    /^\$wp_version = .*$/m,
    `$wp_version = '${version}';`.replaceAll('$', '$$$$'),
  );
  const changed =
    databaseVersion === undefined
      ? text
      : text.replace(/^\$wp_db_version = .*$/m, `$$wp_db_version = ${databaseVersion};`);
  await writeFile(file, changed);
}
