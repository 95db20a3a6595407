import { createRequire } from 'node:module';

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
