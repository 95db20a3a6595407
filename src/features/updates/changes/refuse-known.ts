import { Value } from 'typebox/value';
import { pluginSlug, WordPressReadingSchema } from '../../../hosting/contract/wordpress.ts';
import type { ItemChange } from '../../../hosting/contract/wordpress-changes.ts';
import { Conflict } from '../../../lib/failures.ts';

/**
 * Refuses changes that lasting facts of the last reading of a website exclude, before a checkpoint is made for them. The host decides
 * about active ones: a reading can be minutes old, and an earlier change can wait. Throws Conflict.
 */
export function refuseKnown(stored: unknown, { kind, id, status, autoUpdate }: ItemChange): void {
  if (!Value.Check(WordPressReadingSchema, stored)) return;
  if (stored.multisite) {
    throw new Conflict(
      'This WordPress is a network of sites. Change its plugins and themes in its network admin.',
    );
  }
  if (id === null) return;
  if (kind === 'plugin') {
    const plugin =
      stored.plugins.find(({ file }) => file === id) ??
      stored.plugins.find(({ file }) => pluginSlug(file) === id);
    if (plugin?.status === 'must_use') {
      throw new Conflict(
        `${plugin.name} is a must-use plugin: WordPress always loads it. Remove its file by SFTP.`,
      );
    }
    if (plugin?.status === 'dropin') {
      throw new Conflict(
        `${plugin.name} is a drop-in: WordPress always loads it. The plugin that put it there removes it.`,
      );
    }
    return;
  }
  const theme = stored.themes.find(({ stylesheet }) => stylesheet === id);
  if (theme === undefined) return;
  if (theme.bundled && status === 'deleted') {
    throw new Conflict('The theme comes with WordPress on this host and cannot be deleted.');
  }
  if (theme.bundled && autoUpdate === true) {
    throw new Conflict('The theme comes with WordPress on this host and is updated with it.');
  }
}
