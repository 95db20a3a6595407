import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mergeTables } from './database-tables.ts';
import { completeChosen, completeRestored, restoredIn } from './restored-parts.ts';
import { COPY_FOLDER, DATABASE, PRIVATE } from './site.ts';

let folder: string;
/** The database of another website. */
let other: string;
let next: string;
let present: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'restored-'));
  other = join(folder, 'other');
  next = join(folder, 'site/next');
  present = join(folder, 'site/present');
  await mkdir(other);
  await writeFile(join(other, DATABASE), 'other');
  await mkdir(join(next, PRIVATE), { recursive: true });
  await mkdir(join(present, PRIVATE), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

const parts = { files: true, database: ['wp_posts'] };

test.each([
  ['folder', async () => symlink(other, join(next, PRIVATE, COPY_FOLDER))],
  [
    'file',
    async () => {
      const copy = join(next, PRIVATE, COPY_FOLDER);
      await mkdir(copy);
      await symlink(join(other, DATABASE), join(copy, DATABASE));
    },
  ],
  [
    'private folder',
    async () => {
      await mkdir(join(folder, 'private'));
      await symlink(other, join(folder, 'private', COPY_FOLDER));
      await rm(join(next, PRIVATE), { recursive: true });
      await symlink(join(folder, 'private'), join(next, PRIVATE));
    },
  ],
])('a backup with a link in place of the %s of its database is refused', async (_name, put) => {
  await put();
  for (const complete of [completeRestored, completeChosen]) {
    await expect(complete(next, present, parts, true)).rejects.toThrow('is not a plain file in its folder');
  }
});

test('tables are not merged in a folder that became a link', async () => {
  const { database } = restoredIn(next);
  await symlink(other, database);
  await writeFile(join(present, DATABASE), 'own');
  const merge = {
    folder: database,
    present: join(present, DATABASE),
    tables: ['wp_posts'],
    dropAbsent: false,
  };
  const programs = { runScript: () => Promise.reject(new Error('ran')) };
  await expect(mergeTables({ ...merge, programs })).rejects.toThrow('is not a folder');
  expect(await readdir(other)).toEqual([DATABASE]);
  expect(await readFile(join(other, DATABASE), 'utf8')).toBe('other');
});
