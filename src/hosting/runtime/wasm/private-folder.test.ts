import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prepareFolders } from './private-folder.ts';

it('removes abandoned uploads', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'private-'));
  try {
    await mkdir(join(folder, 'tmp'));
    for (const name of ['tmp/phpAbc123', 'tmp/sess_1']) await writeFile(join(folder, name), 'x');
    await prepareFolders({ private: folder, database: folder });
    expect(await readdir(join(folder, 'tmp'))).toEqual(['sess_1']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('does not bring back the folder of a deleted website', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'private-'));
  await rm(folder, { recursive: true });
  await expect(prepareFolders({ private: folder, database: folder })).rejects.toThrow('ENOENT');
  await expect(readdir(folder)).rejects.toThrow('ENOENT');
});

it('follows no link, which could lead to another website', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'private-'));
  const at = (name: string) => join(folder, name);
  await mkdir(at('other/tmp'), { recursive: true });
  await writeFile(at('other/tmp/phpAbc123'), 'x');
  await symlink(at('other'), at('linked'));
  await mkdir(at('own'));
  await expect(prepareFolders({ private: at('linked'), database: at('own') })).rejects.toThrow(
    'linked of the website is not a folder',
  );
  await expect(prepareFolders({ private: at('own'), database: at('linked') })).rejects.toThrow(
    'linked of the website is not a folder',
  );
  await symlink(at('other/tmp'), at('own/tmp'));
  await expect(prepareFolders({ private: at('own'), database: at('own') })).rejects.toThrow(
    'tmp of the website is not a folder',
  );
  expect(await readdir(at('other/tmp'))).toEqual(['phpAbc123']);
  await rm(folder, { recursive: true });
});
