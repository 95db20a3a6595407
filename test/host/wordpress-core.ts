import { randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkCore, newestFirst } from '../../src/hosting/wordpress/core-tree.ts';
import { fetchDebianWordPress } from '../../src/hosting/wordpress/debian-package.ts';
import { hasCode } from '../../src/lib/error-code.ts';

/** Shared by all test runs on this machine: a download of WordPress takes longer than most tests. */
const CACHE = '/var/cache/homeport-test';
const PREFIX = 'wordpress-';

/** Folder of the WordPress in Debian's package, downloaded once. Tests must not change it. */
export async function wordpressCore(): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const [newest] = newestFirst(await versions());
  if (newest !== undefined) return join(CACHE, PREFIX + newest);
  const scratch = join(CACHE, `.${randomUUID()}`);
  await mkdir(scratch);
  try {
    const tree = join(scratch, 'wordpress');
    await fetchDebianWordPress(scratch, tree);
    const target = join(CACHE, PREFIX + (await checkCore(tree)));
    await moveUnlessThere(tree, target);
    return target;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Copies a core to `folder` as another version, with database version `databaseVersion` if given. */
export async function copyAsVersion(
  core: string,
  folder: string,
  version: string,
  databaseVersion?: number,
): Promise<void> {
  await cp(core, folder, { recursive: true });
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

async function versions(): Promise<string[]> {
  const names = await readdir(CACHE);
  return names.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
}

/** Another test run may have been faster. */
async function moveUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}
