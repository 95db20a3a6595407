/**
 * Writes what is made from the declarations of the routes, and git ignores: `npm run generate`, which other commands run before
 * they need it. Files that stay the same are not written.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { basename, join } from 'node:path';
import { endpointsOf, typesOf } from './types-of-description.ts';

const root = join(import.meta.dirname, '..');
const cache = join(root, 'node_modules/.cache/homeport');
enableCompileCache(cache);
// Loaded here, so that the cache holds its modules.
const { describedApi, describedPortal } = await import('../src/app/description.ts');

const api = describedApi();
const files = {
  'packages/client/openapi.json': `${JSON.stringify(api, null, 1)}\n`,
  'packages/client/src/endpoints.ts': endpointsOf(api),
  'packages/client/src/api-types.ts': typesOf(api),
  'web/api/portal-types.ts': typesOf(describedPortal()),
};
for (const [path, text] of Object.entries(files)) writeIfChanged(join(root, path), text);

/** In one step and beside other sources, because compilers and builds may read the folder meanwhile. */
function writeIfChanged(file: string, text: string): void {
  if (present(file) === text) return;
  mkdirSync(cache, { recursive: true });
  const made = join(cache, `${basename(file)}.${process.pid}`);
  writeFileSync(made, text);
  renameSync(made, file);
}

function present(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
