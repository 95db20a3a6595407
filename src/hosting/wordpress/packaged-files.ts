import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** Files of an optional npm package. Nothing else of the package is used, and none of its JavaScript is run. */
export interface PackagedFiles {
  /** The folder of a WordPress release. */
  wordpress: string;
  /** The folder of the SQLite plugin of WordPress. */
  sqlitePlugin: string;
  /** The phar of WP-CLI. */
  wpCli: string;
  /** The folder of the command of WP-CLI that exports and imports databases in SQLite. */
  sqliteCommand: string;
  /** The folder of phpMyAdmin. */
  phpMyAdmin: string;
}

/** The files in node_modules; null if the package is not installed. */
export function packagedFiles(): PackagedFiles | null {
  try {
    const files = join(dirname(require.resolve('wp-studio/package.json')), 'dist/cli/wp-files');
    return {
      wordpress: join(files, 'latest/wordpress'),
      sqlitePlugin: join(files, 'sqlite-database-integration'),
      wpCli: join(files, 'wp-cli/wp-cli.phar'),
      sqliteCommand: join(files, 'sqlite-command'),
      phpMyAdmin: join(files, 'phpmyadmin'),
    };
  } catch {
    return null;
  }
}

/** As {@link packagedFiles}. Throws a sentence for the operator if the package is not installed. */
export function requirePackagedFiles(): PackagedFiles {
  const files = packagedFiles();
  if (files !== null) return files;
  throw new Error('The optional package wp-studio is not installed. Run `npm ci` without --omit=optional');
}
