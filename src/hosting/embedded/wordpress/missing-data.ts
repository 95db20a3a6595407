import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from '../host-folder/layout.ts';
import { DATABASE } from './site.ts';

export const NO_FILES = 'The files of the website are missing.';

/**
 * The missing data of a website with WordPress, one sentence each, without paths of the machine: customers read them. Without this data, WordPress would make an empty database and offer
 * its installation to visitors. Synchronous, because it comes before each request of PHP.
 */
export function missingData(layout: Pick<Layout, 'filesOf' | 'databaseOf'>, installId: string): string[] {
  const files = layout.filesOf(installId);
  const missing = existsSync(files)
    ? ['wp-config.php', 'wp-content']
        .filter((name) => !existsSync(join(files, name)))
        .map((name) => `${name} is missing.`)
    : [NO_FILES];
  if (existsSync(join(layout.databaseOf(installId), DATABASE))) return missing;
  return [...missing, 'The database of the website is missing.'];
}

/** Whether neither files nor a database of a website are left. */
export function hasNothing(layout: Pick<Layout, 'filesOf' | 'databaseOf'>, installId: string): boolean {
  return !existsSync(layout.filesOf(installId)) && !existsSync(layout.databaseOf(installId));
}
