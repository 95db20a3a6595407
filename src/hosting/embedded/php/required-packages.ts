import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** Throws with a sentence for the operator if the optional packages of PHP are not installed. */
export function requirePackages(): void {
  for (const name of ['@php-wasm/node-8-4/package.json', '@php-wasm/universal/package.json']) {
    try {
      require.resolve(name);
    } catch {
      throw new Error('The optional packages of PHP are not installed. Run `npm ci` without --omit=optional');
    }
  }
}

/** The archive with the SQLite plugin of WordPress. Throws a sentence for the operator without it. */
export function sqlitePluginArchive(): string {
  try {
    return join(
      dirname(require.resolve('@wp-playground/cli/package.json')),
      'sqlite-database-integration.zip',
    );
  } catch {
    throw new Error(
      'The optional package @wp-playground/cli is not installed. Run `npm ci` without --omit=optional',
    );
  }
}
