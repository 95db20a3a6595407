import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProcessFolder, removeProcessFolders } from './process-folder.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp('/tmp/php-');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('removes what killed servers left in the folder', async () => {
  const made = await createProcessFolder(folder);
  expect(dirname(made)).toBe(folder);
  await writeFile(join(made, 'program'), '');
  await removeProcessFolders(folder);
  expect(existsSync(made)).toBe(false);
  await removeProcessFolders(folder);
});

it('removes what they left elsewhere, and nothing of other servers', async () => {
  const long = join(folder, 'a'.repeat(80));
  const made = await createProcessFolder(long);
  const other = await createProcessFolder(`${long}b`);
  expect([made, other].map(dirname)).toEqual([tmpdir(), tmpdir()]);
  await writeFile(join(made, 'program'), '');
  await removeProcessFolders(long);
  expect([made, other].map(existsSync)).toEqual([false, true]);
  await removeProcessFolders(`${long}b`);
  expect(existsSync(other)).toBe(false);
});
