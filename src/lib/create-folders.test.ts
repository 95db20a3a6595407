import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/database.ts';
import { createFolders } from './create-folders.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

it('creates a folder and those above it with the mode, and says whether it is new', () => {
  const path = join(folder.path, 'one', 'two');
  expect(createFolders(path, 0o700)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder.path, 'one')).mode & 0o777).toBe(0o700);
  expect(createFolders(path, 0o700)).toBe(false);
});

it('leaves the mode and the content of a folder that is there', () => {
  const path = join(folder.path, 'there');
  mkdirSync(path, { mode: 0o755 });
  writeFileSync(join(path, 'file'), '');
  expect(createFolders(path, 0o700)).toBe(false);
  expect(statSync(path).mode & 0o777).toBe(0o755);
  expect(readdirSync(path)).toEqual(['file']);
});

it('refuses a file, also above', () => {
  const file = join(folder.path, 'file');
  writeFileSync(file, '');
  expect(() => createFolders(file, 0o700)).toThrow(`${file} is a file, not a folder`);
  expect(() => createFolders(join(file, 'inner'), 0o700)).toThrow('ENOTDIR');
});

it('returns where the system takes no folders', () => {
  expect(() => createFolders('/proc/x/y', 0o700)).toThrow(/ENOENT|EACCES/);
});
