import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

type Entry = Record<string, unknown>;

const lock: { packages: Record<string, Entry> } = JSON.parse(
  await readFile(new URL('../../../../package-lock.json', import.meta.url), 'utf8'),
);

it('keeps the packages of PHP installable with any Node', () => {
  const entries = Object.entries(lock.packages).filter(([path]) => path.includes('/@php-wasm/'));
  expect(entries).not.toHaveLength(0);
  // npm leaves out optional packages whose engines the machine's Node does not match. Remove "engines" from these entries.
  expect(entries.filter(([, { engines }]) => engines !== undefined).map(([path]) => path)).toEqual([]);
});
