import { configuredPrefix } from '../../wordpress/core-tables.ts';
import type { Databases } from '../daemons/databases.ts';
import { identifier } from '../daemons/sql.ts';
import { folderState } from '../isolation/owned-folder.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { type PinnedFolder, pinFolder } from '../wordpress/pinned-folder.ts';
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
  const none = { root, database, tables, hasRoot: false, config: null, hasContent: false, hasUploads: false };
  if ((await folderState(home))?.isFolder !== true || (await folderState(root))?.isFolder !== true)
    return none;
  const htdocs = await pinFolder(root);
  try {
    return { ...none, hasRoot: true, config: await configIn(htdocs), ...(await contentIn(htdocs)) };
  } finally {
    await htdocs.close();
  }
}

async function configIn(htdocs: PinnedFolder): Promise<WebsiteData['config']> {
  if ((await htdocs.stat('wp-config.php')).type === 'none') return null;
  // A customer's link in its place may lead to a file with the prefix, which root does not follow.
  return { prefix: configuredPrefix((await htdocs.end('wp-config.php', CONFIG_BYTES)) ?? '') };
}

async function contentIn(htdocs: PinnedFolder): Promise<Pick<WebsiteData, 'hasContent' | 'hasUploads'>> {
  const { type } = await htdocs.stat('wp-content');
  // Whatever else a customer has put there is not looked into.
  if (type !== 'folder') return { hasContent: type !== 'none', hasUploads: type !== 'none' };
  const content = await htdocs.look('wp-content');
  if (content === null) return { hasContent: false, hasUploads: false };
  try {
    return { hasContent: isContent(await content.names()), hasUploads: await hasEntries(content, 'uploads') };
  } finally {
    await content.close();
  }
}

async function hasEntries(folder: PinnedFolder, name: string): Promise<boolean> {
  const { type } = await folder.stat(name);
  if (type !== 'folder') return type !== 'none';
  const inner = await folder.look(name);
  try {
    return inner !== null && (await inner.names()).length > 0;
  } finally {
    await inner?.close();
  }
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
