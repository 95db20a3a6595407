import { join } from 'node:path';
import type { PhpLimits } from '../../../lib/php-limits.ts';
import { SEEN } from '../../runtime/wasm/library-script.ts';
import type { PhpRoots, PhpSite, PhpSiteLimits } from '../../runtime/wasm/php-sites.ts';
import type { WasmFolders } from '../../runtime/wasm/wasm-runtime.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import { renderPrepend } from '../../wordpress/site-config.ts';
import type { Layout } from '../host-folder/layout.ts';

/** Folder in the document root of a website that visitors never see: what belongs to the host. */
export const PRIVATE = '.private';
/** In {@link PRIVATE}: the database that a restore, or a version before 0.3, has left there (adopted-database.ts). */
export const DATABASE_FOLDER = 'database';
/** The database, in a folder of its own. */
export const DATABASE = 'wordpress.sqlite';
/** Holds the copy of the database that a snapshot contains. */
export const COPY_FOLDER = 'database-copy';
/** As {@link COPY_FOLDER}, of a platform backup, which can run meanwhile. */
export const PLATFORM_COPY_FOLDER = 'platform-copy';
/** Pages to purge, one request of the website in each line. */
export const PURGES = 'purges';

const beside = (...names: string[]) => new Set(names.map((name) => `${PRIVATE}/${name}`));
/** Files that a snapshot leaves out, because they change while PHP runs, or last for a request. Relative to the document root. */
export const NOT_IN_SNAPSHOTS: ReadonlySet<string> = beside(DATABASE_FOLDER, 'tmp', PLATFORM_COPY_FOLDER);
/** Files that a platform backup leaves out. */
export const NOT_IN_PLATFORM_BACKUPS: ReadonlySet<string> = beside(DATABASE_FOLDER, 'tmp', COPY_FOLDER);

/** The address of a website and what else its PHP knows. */
export interface SiteFacts {
  version: string;
  /** `https://example.com`, with the port unless it is the default. */
  origin: string;
  passKey: string | null;
  /** Recipients of its email within an hour, if the install has a limit of its own. */
  mailsPerHour?: number | undefined;
  /** Limits of its PHP that its users have set; the defaults if left out. */
  php?: PhpLimits | undefined;
}

/** A WordPress of this host, as its PHP needs it. */
export interface WordPressSite {
  id: string;
  /** The document root. */
  files: string;
  /** Folder of its database. */
  database: string;
  /** Folder of its WordPress. */
  core: string;
  /** Folder of the SQLite plugin. */
  sqlite: string;
  /** Folder of WP-CLI. */
  wpCli: string;
  /** Folder with the versions of phpMyAdmin. */
  phpMyAdmin: string;
  /** Address for visitors: `https://example.com`, with the port unless it is the default. */
  origin: string;
  /** Key of passes through the password of visitors; null without a password. */
  passKey: string | null;
  limits: PhpSiteLimits;
}

/** A name that holds the logins of an install apart from those of its copies. */
export const databaseNameOf = (installId: string): string => `hp_${installId.replaceAll('-', '')}`;

/** Where the folders of websites are. PHP writes the pattern of new ones while it is made, and reads it afterwards. */
export function phpRootsOf({ installs, making, golden, cores, sqlite, wpCli, phpMyAdmin }: Layout): PhpRoots {
  return { writable: [installs, making], readable: [golden, cores, sqlite, wpCli, phpMyAdmin] };
}

/** The folders of an install's website that its runtime shows. */
export function runtimeFoldersOf(
  { filesOf, logsOf }: Pick<Layout, 'filesOf' | 'logsOf'>,
  installId: string,
): WasmFolders {
  const root = filesOf(installId);
  return { root, private: join(root, PRIVATE), logs: logsOf(installId) };
}

export function phpSiteOf(website: WordPressSite): PhpSite {
  const { id, files, database, core, sqlite, wpCli, phpMyAdmin, origin, passKey, limits } = website;
  return {
    id,
    core,
    website: files,
    private: join(files, PRIVATE),
    database,
    readOnly: {
      [SEEN.scripts]: join(phpFileOf(core, '.')),
      [SEEN.sqlite]: sqlite,
      [SEEN.wpCli]: wpCli,
      [SEEN.phpMyAdmin]: phpMyAdmin,
    },
    prepend: renderPrepend({
      root: SEEN.root,
      database: databaseNameOf(id),
      databaseFolder: SEEN.database,
      purge: `file://${SEEN.private}/${PURGES}`,
      origin,
      pass: passKey,
      library: SEEN.scripts,
      sqlite: SEEN.sqlite,
    }),
    limits,
  };
}

/** Code that copies the database into a file of {@link PRIVATE}, in one transaction. It prints what copied-database.ts reads. */
export function databaseCopyCode(name: string): string {
  return `<?php
$to = '${SEEN.private}/${name}';
@unlink($to);
try {
    $database = new PDO('sqlite:${SEEN.database}/${DATABASE}', null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $database->exec('PRAGMA busy_timeout = 30000');
    $database->exec("VACUUM INTO '$to'");
    echo 'copied';
} catch (PDOException $error) {
    echo 'refused:', json_encode(['code' => $error->errorInfo[1] ?? null, 'reason' => $error->errorInfo[2] ?? $error->getMessage()],
        JSON_INVALID_UTF8_SUBSTITUTE);
    exit(1);
}
`;
}

/** Code that shows the front page of a website without `wp-config.php`. */
export const FRONT_PAGE_CODE = `<?php
define('WP_USE_THEMES', true);
defined('ABSPATH') || define('ABSPATH', '${SEEN.root}/');
$table_prefix = 'wp_';
require ABSPATH . 'wp-settings.php';
wp();
require ABSPATH . WPINC . '/template-loader.php';
`;
