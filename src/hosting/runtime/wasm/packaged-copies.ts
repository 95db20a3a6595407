import { createHash, randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { requirePackagedFiles } from '../../wordpress/packaged-files.ts';

/** Names in the folder of WP-CLI. */
export const WP_CLI_PHAR = 'wp-cli.phar';
export const SQLITE_COMMAND = 'sqlite-command';

/** Packaged files that websites use. */
interface PackagedPart {
  /** Begins the name of the copy. */
  name: string;
  /** The file that changes with each version. */
  versionFile: string;
  /** Files and folders by their names in the copy; the empty name is the copy itself. */
  content: Readonly<Record<string, string>>;
  /** Further files of the copy, with their text. */
  texts?: Readonly<Record<string, string>>;
}

/** The parts of phpMyAdmin that its pages need. */
const PHP_MY_ADMIN = [
  'index.php',
  'url.php',
  'favicon.ico',
  'js/config',
  'js/dist',
  'js/messages.php',
  'js/vendor',
].concat(['libraries', 'templates', 'themes/bootstrap', 'themes/dot.gif', 'vendor']);
/** Its settings and its connection come from our PHP library. */
const PHP_MY_ADMIN_TEXTS = {
  'config.inc.php': '<?php\n$cfg = HOMEPORT_PHPMYADMIN;\n',
  'libraries/classes/Dbal/DbiMysqli.php': "<?php\nrequire HOMEPORT_LIBRARY . '/phpmyadmin-connection.php';\n",
};

/** Copies the SQLite plugin of WordPress into a new folder below `folder`, once for each version. Returns that folder. */
export async function provideSqlitePlugin(folder: string): Promise<string> {
  const { sqlitePlugin } = requirePackagedFiles();
  const versionFile = join(sqlitePlugin, 'load.php');
  return provide({ name: 'sqlite', versionFile, content: { '': sqlitePlugin } }, folder);
}

/** Does the same with WP-CLI and its command for SQLite. */
export async function provideWpCli(folder: string): Promise<string> {
  const { wpCli, sqliteCommand } = requirePackagedFiles();
  const content = { [WP_CLI_PHAR]: wpCli, [SQLITE_COMMAND]: join(sqliteCommand, 'src') };
  return provide({ name: 'wp-cli', versionFile: wpCli, content }, folder);
}

/** Does the same with phpMyAdmin. */
export async function providePhpMyAdmin(folder: string): Promise<string> {
  const { phpMyAdmin } = requirePackagedFiles();
  return provide(
    {
      name: 'phpmyadmin',
      versionFile: join(phpMyAdmin, 'libraries/classes/Version.php'),
      content: Object.fromEntries(PHP_MY_ADMIN.map((name) => [name, join(phpMyAdmin, name)])),
      texts: PHP_MY_ADMIN_TEXTS,
    },
    folder,
  );
}

/** A copy, because the next `npm ci` removes the packaged files while websites run. */
async function provide(
  { name, versionFile, content, texts = {} }: PackagedPart,
  folder: string,
): Promise<string> {
  const digest = createHash('sha256').update(await readFile(versionFile));
  // Our own part of a copy may change with each version of this program.
  if (Object.keys(texts).length > 0) digest.update(JSON.stringify([Object.keys(content), texts]));
  const target = join(folder, `${name}-${digest.digest('hex').slice(0, 16)}`);
  if ((await ifThere(stat(target))) !== null) return target;
  const scratch = join(folder, `.${randomUUID()}`);
  try {
    await mkdir(folder, { recursive: true });
    for (const [to, from] of Object.entries(content)) {
      await cp(from, join(scratch, to), { recursive: true });
    }
    for (const [to, text] of Object.entries(texts)) await writeFile(join(scratch, to), text);
    await rename(scratch, target);
  } catch (error) {
    await rm(scratch, { recursive: true, force: true });
    // Another process was faster.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
  return target;
}
