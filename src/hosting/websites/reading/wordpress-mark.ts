import { createHash } from 'node:crypto';
import type { Files } from '../../runtime/runtime.ts';

/** The must-use plugin touches it when plugins, themes or administrators change (watch-changes.php). */
const TOUCHED = '.wordpress-changed';
/** In `wp-content`. */
const CONTENT = ['plugins', 'themes', 'mu-plugins'];

/**
 * A website's mark (`WordPressMarks`): a hash of its version and of when four entries last changed. Their contents are never read, so
 * it does not matter what a website puts there.
 */
export async function wordpressMark(files: Files, version: string): Promise<string> {
  const times = [
    ...(await files.changedAt('root', ['wp-content'], CONTENT)),
    ...(await files.changedAt('private', [], [TOUCHED])),
  ];
  return createHash('sha256')
    .update(JSON.stringify([version, times]))
    .digest('hex')
    .slice(0, 32);
}
