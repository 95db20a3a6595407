import type { InstallRef } from './install-ref.ts';
import type { ReportProgress } from './progress.ts';

/** Imports of existing websites, which every host has or refuses. */
export interface WebsiteImports {
  /**
   * Replaces the website by an existing one from an archive: wp-content, and the database with its table prefix and this install's
   * addresses. The core, `wp-config.php` and the private folder stay the install's own. Until everything is checked, the present
   * website stays as it is. Rejects with a RefusedImportError if nothing was replaced, and with a BrokenWebsiteError if the
   * imported website is in place and does not answer. Reports each {@link ImportStep}.
   */
  importWebsite(
    install: InstallRef,
    source: ImportSource,
    options?: ImportOptions,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<ImportedWebsite>;
  /** The id of the import that made the present website, if no other import or restore came after. Waits for work on the website. */
  lastImport(install: InstallRef): Promise<string | null>;
}

/**
 * Where the website is: an archive in a path below the install's home, `private/website.zip`, or at an address with `https`; or the
 * host that serves it.
 */
export type ImportSource = (({ file: string } | { url: string }) & ChosenSite) | { ssh: SshSource };

/** The website to import, by its domain or folder, if the archive has several. Without it, the archive must have one. */
export interface ChosenSite {
  site?: string;
}

/** Pattern of the names of websites in an archive. */
export const SITE_PATTERN = '^[^\\u0000-\\u001f\\u007f]{1,255}$';

/** A website on another host, and the key that opens it. */
export interface SshSource {
  host: string;
  port: number;
  user: string;
  /** The folder of the WordPress, absolute or from the user's home. */
  path: string;
  /** The confirmed fingerprint of the server, `SHA256:…`. Without it, the import is refused with the server's fingerprint. */
  hostKey: string | null;
  /** PEM. */
  privateKey: string;
}

/** What values may look like that become arguments of SSH. None of them can be an option. */
export const SSH_PATTERNS = {
  host: '^[A-Za-z0-9:][A-Za-z0-9.:-]{0,252}$',
  user: '^[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,63}$',
  path: '^[^\\u0000-\\u001f\\u007f-][^\\u0000-\\u001f\\u007f]{0,1023}$',
  hostKey: '^SHA256:[A-Za-z0-9+/]{43}$',
};

/** What an import does at the moment, in this order; without a download if the archive is a file. By SSH, the download has two parts. */
export const IMPORT_STEPS = ['download', 'unpack', 'database', 'urls', 'check'] as const;
export type ImportStep = (typeof IMPORT_STEPS)[number];

export function isImportStep(step: string | undefined): step is ImportStep {
  return IMPORT_STEPS.some((known) => known === step);
}

export interface ImportOptions {
  /** A repeated import with this id only checks the website that it has put in place. */
  importId?: string | null | undefined;
}

export interface ImportedWebsite {
  /** Faults of the imported website, on one line without a full stop. It stays in place. */
  warning?: string | undefined;
  tablePrefix: string;
  /** Files that were unpacked, and their bytes. */
  files: number;
  bytes: number;
  /** Sentences about what was skipped or not imported. Hosts of earlier versions leave them out. */
  notes?: string[];
}
