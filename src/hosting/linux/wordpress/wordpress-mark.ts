import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** The must-use plugin touches it when plugins, themes or administrators change (watch-changes.php). */
const TOUCHED = '.wordpress-changed';

/**
 * A website's mark (`WordPressMarks`): a hash of its version and of when four entries last changed. Their contents are never read, so
 * it does not matter what a website puts there.
 */
export async function wordpressMark(
  layout: LinuxLayout,
  { id, wordpressVersion }: { id: string; wordpressVersion: string },
): Promise<string> {
  const content = join(layout.htdocsOf(id), 'wp-content');
  const paths = [
    ...['plugins', 'themes', 'mu-plugins'].map((name) => join(content, name)),
    join(layout.privateOf(id), TOUCHED),
  ];
  const times = await Promise.all(paths.map(changedAt));
  return createHash('sha256')
    .update(JSON.stringify([wordpressVersion, times]))
    .digest('hex')
    .slice(0, 32);
}

async function changedAt(path: string): Promise<string | null> {
  // A website can put a file where the folder was, or a loop of links.
  const found = await ifThere(lstat(path, { bigint: true })).catch(() => null);
  return found === null ? null : String(found.mtimeNs);
}
