import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
/** The version of PHP as WebAssembly, `major.minor`. */
export const WASM_PHP = '8.4';

/** Throws with a sentence for the operator if the optional packages of PHP are not installed. */
export function requirePackages(): void {
  for (const name of [
    `@php-wasm/node-${WASM_PHP.replace('.', '-')}/package.json`,
    '@php-wasm/universal/package.json',
  ]) {
    try {
      require.resolve(name);
    } catch {
      throw new Error('The optional packages of PHP are not installed. Run `npm ci` without --omit=optional');
    }
  }
}
