import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

it('keeps the packages of PHP installable with any Node', async () => {
  const lock: { packages: Record<string, { engines?: unknown }> } = JSON.parse(
    await readFile(new URL('../../../../package-lock.json', import.meta.url), 'utf8'),
  );
  const entries = Object.entries(lock.packages).filter(([path]) => /\/@php-wasm\//.test(path));
  expect(entries).not.toHaveLength(0);
  // npm leaves out optional packages whose engines the machine's Node does not match. Remove "engines" from these entries.
  expect(entries.filter(([, { engines }]) => engines !== undefined).map(([path]) => path)).toEqual([]);
});
