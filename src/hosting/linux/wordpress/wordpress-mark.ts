import { createHash } from 'node:crypto';
import type { LinuxLayout } from '../machine/layout.ts';
import { type PinnedFolder, pinFolder } from './pinned-folder.ts';

/** The must-use plugin touches it when plugins, themes or administrators change (watch-changes.php). */
const TOUCHED = '.wordpress-changed';
/** In `wp-content`. */
const CONTENT = ['plugins', 'themes', 'mu-plugins'];

/**
 * A website's mark (`WordPressMarks`): a hash of its version and of when four entries last changed. Their contents are never read, so
 * it does not matter what a website puts there.
 */
export async function wordpressMark(
  layout: LinuxLayout,
  { id, wordpressVersion }: { id: string; wordpressVersion: string },
): Promise<string> {
  const times = [
    ...(await timesIn(await pinnedAt(layout.htdocsOf(id), 'wp-content'), CONTENT)),
    ...(await timesIn(await pinnedAt(layout.privateOf(id)), [TOUCHED])),
  ];
  return createHash('sha256')
    .update(JSON.stringify([wordpressVersion, times]))
    .digest('hex')
    .slice(0, 32);
}

/** A folder, or one in it. Null without one. Pinned, because a website can put a link to anywhere in the place of a folder. */
async function pinnedAt(path: string, name?: string): Promise<PinnedFolder | null> {
  const folder = await pinFolder(path).catch(() => null);
  if (folder === null || name === undefined) return folder;
  return folder.look(name).finally(() => folder.close());
}

/** Closes the folder. */
async function timesIn(folder: PinnedFolder | null, names: readonly string[]): Promise<(string | null)[]> {
  if (folder === null) return names.map(() => null);
  try {
    return await Promise.all(names.map(async (name) => (await folder.changedAt(name))?.toString() ?? null));
  } finally {
    await folder.close();
  }
}
