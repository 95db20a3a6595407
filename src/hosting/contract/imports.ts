import type { InstallRef } from './install-ref.ts';

/** Imports of existing websites, which every host has or refuses. */
export interface WebsiteImports {
  /**
   * Replaces the website by an existing one from an archive: wp-content, and the database with its table prefix and this install's
   * addresses. The core, `wp-config.php` and the private folder stay the install's own. Until everything is checked, the present
   * website stays as it is. Rejects with a {@link RefusedImportError} if nothing was replaced, and with a BrokenWebsiteError if the
   * imported website is in place and does not answer.
   */
  importWebsite(install: InstallRef, source: ImportSource, options?: ImportOptions): Promise<ImportedWebsite>;
  /** The id of the import that made the present website, if no other import or restore came after. Waits for work on the website. */
  lastImport(install: InstallRef): Promise<string | null>;
}

/** Where the archive is: a path below the install's home, `private/website.zip`, or an address with `https`. */
export type ImportSource = { file: string } | { url: string };

/** What an import does at the moment, in this order; without a download if the archive is a file. */
export const IMPORT_STEPS = ['download', 'unpack', 'database', 'urls', 'check'] as const;
export type ImportStep = (typeof IMPORT_STEPS)[number];

export function isImportStep(step: string | undefined): step is ImportStep {
  return IMPORT_STEPS.some((known) => known === step);
}

export interface ImportOptions {
  /** A repeated import with this id only checks the website that it has put in place. */
  importId?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Called often, and must not throw. `total`: null if unknown. */
  report?: ((done: number, total: number | null, step: ImportStep) => void) | undefined;
}

export interface ImportedWebsite {
  tablePrefix: string;
  /** Files that were unpacked, and their bytes. */
  files: number;
  bytes: number;
}
