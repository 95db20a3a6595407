/**
 * `npm run generate`: writes the files that are generated from the declarations of the routes and that git ignores. Other commands run it
 * when they need them. Files that stay the same are not written.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { endpointsOf, typesOf } from './types-of-description.ts';

const root = join(import.meta.dirname, '..');
enableCompileCache(join(root, 'node_modules/.cache/homeport'));
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

/** In one step, because compilers and builds may read the file meanwhile. Under no name that they read, and on the same file system. */
function writeIfChanged(file: string, text: string): void {
  if (present(file) === text) return;
  const made = `${file}.${process.pid}`;
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
