import type { DatabaseLink, DatabaseLinkRefused } from '../../contract/database-access.ts';
import type { Programs } from '../../runtime/runtime.ts';
import {
  createDatabaseLinks,
  type DatabaseLinksOptions,
  NOT_RUNNING,
} from '../../websites/database/create-database-link.ts';
import { SANDBOX_ADMINER } from '../database-page/page-file.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { pingPhp } from '../php/fpm.ts';

export type LinuxDatabaseLinks = ReturnType<typeof createLinuxDatabaseLinks>;

/** Creates links to the databases of this machine, which adminer shows. */
export function createLinuxDatabaseLinks({
  layout,
  ...options
}: DatabaseLinksOptions & { layout: LinuxLayout }) {
  const create = createDatabaseLinks(options);
  return async (
    install: SandboxedInstall,
    database: string,
    runtime: Programs,
  ): Promise<DatabaseLink | DatabaseLinkRefused> => {
    try {
      // Scripts run without the PHP that answers visitors.
      await pingPhp(layout.phpSocketOf(install.id));
    } catch {
      return NOT_RUNNING;
    }
    return create({
      installId: install.id,
      runtime,
      uploads: foldersOf(layout, install).uploads,
      program: { name: 'adminer', file: `${SANDBOX_ADMINER}/adminer.php` },
      content: { database, user: install.name, socket: layout.mariadbSocket },
    });
  };
}
