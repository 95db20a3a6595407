import type { DatabaseLink, DatabaseLinkRefused } from '../../contract/database-access.ts';
import { BrokenWebsiteError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { Programs } from '../../runtime/runtime.ts';
import { SEEN } from '../../runtime/wasm/library-script.ts';
import type { PhpSites } from '../../runtime/wasm/php-sites.ts';
import {
  createDatabaseLinks,
  type DatabaseLinksOptions,
} from '../../websites/database/create-database-link.ts';
import { databaseNameOf } from './site.ts';

interface EmbeddedDatabaseLinksOptions<Website> extends DatabaseLinksOptions {
  php: Pick<PhpSites, 'isHeld'>;
  runtimeOf(website: Website): Programs;
  /** Makes phpMyAdmin ready. Returns its folder as PHP sees it. */
  phpMyAdmin(): Promise<string>;
}

const RESTORING: DatabaseLinkRefused = {
  refused: 'website',
  reason: 'This website is being restored. Try again in a minute.',
};

/** Creates links to the SQLite databases of websites, which phpMyAdmin shows. */
export function createEmbeddedDatabaseLinks<Website extends InstallRef>({
  php,
  runtimeOf,
  phpMyAdmin,
  ...options
}: EmbeddedDatabaseLinksOptions<Website>) {
  const create = createDatabaseLinks(options);
  return async (website: Website): Promise<DatabaseLink | DatabaseLinkRefused> => {
    const program = await phpMyAdmin();
    if (php.isHeld(website.id)) return RESTORING;
    try {
      return await create({
        installId: website.id,
        runtime: runtimeOf(website),
        uploads: SEEN.uploads,
        program: { name: 'phpMyAdmin', file: `${program}/index.php` },
        content: { database: databaseNameOf(website.id), program },
      });
    } catch (error) {
      // A restore has begun meanwhile.
      if (php.isHeld(website.id)) return RESTORING;
      if (error instanceof BrokenWebsiteError) return { refused: 'website', reason: error.message };
      throw error;
    }
  };
}
