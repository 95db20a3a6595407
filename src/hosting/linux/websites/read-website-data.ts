import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { type PinnedFolder, pinFolder } from '../../runtime/linux/pinned-folder.ts';
import { configuredPrefix } from '../../wordpress/core-tables.ts';
import type { Databases } from '../daemons/databases.ts';
import { identifier } from '../daemons/sql.ts';
import { folderState } from '../isolation/owned-folder.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { isContent } from '../wordpress/site-files.ts';
import type { WebsiteData } from './website-losses.ts';

/** The longest part of `wp-config.php` that is read. */
const CONFIG_BYTES = 64 * 1024;

/** Reads what shows whether a website has lost data. Changes nothing. */
export async function readWebsiteData(
  layout: LinuxLayout,
  databases: Pick<Databases, 'tables'>,
  install: Pick<SandboxedInstall, 'id' | 'home'>,
  database: string,
): Promise<WebsiteData> {
  const { home, htdocs: root } = foldersOf(layout, install);
  const tables = await databases.tables(database);
  const none = { database, tables, hasRoot: false, config: null, hasContent: false };
  if ((await folderState(home))?.isFolder !== true || (await folderState(root))?.isFolder !== true)
    return none;
  const htdocs = await pinFolder(root);
  try {
    return { ...none, hasRoot: true, config: await configIn(htdocs), hasContent: await hasContentIn(htdocs) };
  } finally {
    await htdocs.close();
  }
}

async function configIn(htdocs: PinnedFolder): Promise<WebsiteData['config']> {
  if ((await htdocs.stat('wp-config.php')).type === 'none') return null;
  // A customer's link in its place may lead to a file with the prefix, which root does not follow.
  return { prefix: configuredPrefix((await htdocs.end('wp-config.php', CONFIG_BYTES)) ?? '') };
}

async function hasContentIn(htdocs: PinnedFolder): Promise<boolean> {
  const { type } = await htdocs.stat('wp-content');
  // Whatever else a customer has put there is not looked into.
  if (type !== 'folder') return type !== 'none';
  const content = await htdocs.look('wp-content');
  try {
    return content !== null && isContent(await content.names());
  } finally {
    await content?.close();
  }
}

/** Whether `uploads` has a file, or is a link. WordPress itself makes folders in it. */
export async function hasUploads(layout: LinuxLayout, installId: string): Promise<boolean> {
  const uploads = join(layout.htdocsOf(installId), 'wp-content/uploads');
  if ((await ifThere(lstat(uploads))) === null) return false;
  const { stdout } = await runCommand('/usr/bin/find', [
    uploads,
    '-xdev',
    '!',
    '-type',
    'd',
    '-print',
    '-quit',
  ]);
  return stdout !== '';
}

/** The number of files in the media library, as the website's user. */
export async function countAttachments(
  databases: Pick<Databases, 'query'>,
  database: string,
  tablePrefix: string,
): Promise<number> {
  const [[count] = []] = await databases.query(
    database,
    `SELECT COUNT(*) FROM ${identifier(`${tablePrefix}posts`)} WHERE post_type = 'attachment'`,
  );
  return Number(count);
}
