import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

type Entry = Record<string, unknown>;

const lock: { packages: Record<string, Entry> } = JSON.parse(
  await readFile(new URL('../../../../package-lock.json', import.meta.url), 'utf8'),
);

it('keeps the packages of PHP installable with any Node', () => {
  const entries = Object.entries(lock.packages).filter(([path]) =>
    /\/@(php-wasm|wp-playground)\//.test(path),
  );
  expect(entries).not.toHaveLength(0);
  // npm leaves out optional packages whose engines the machine's Node does not match. Remove "engines" from these entries.
  expect(entries.filter(([, { engines }]) => engines !== undefined).map(([path]) => path)).toEqual([]);
});

it('installs the package with the SQLite plugin alone', () => {
  const entry = lock.packages['node_modules/@wp-playground/cli'] ?? {};
  // npm trusts the lock file. Remove what it adds: the program's 580 MB of dependencies are not needed for one archive.
  expect(Object.keys(entry).sort()).toEqual(['integrity', 'license', 'optional', 'version']);
});
