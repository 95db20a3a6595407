import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { linkTree } from './link-tree.ts';

it('links files, makes symbolic links again, and leaves out pipes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'link-tree-'));
  const at = (name: string) => join(folder, name);
  await mkdir(at('from/inner'), { recursive: true });
  await writeFile(at('from/inner/file'), 'x');
  await writeFile(at('from/aside'), 'x');
  await symlink('../../secret', at('from/inner/link'));
  execFileSync('mkfifo', [at('from/inner/pipe')]);
  await linkTree(at('from'), at('to'), new Set(['aside']));
  expect(await readdir(at('to'))).toEqual(['inner']);
  expect(await readdir(at('to/inner'))).toEqual(['file', 'link']);
  expect(await readFile(at('to/inner/file'), 'utf8')).toBe('x');
  expect((await stat(at('to/inner/file'))).nlink).toBe(2);
  expect(await readlink(at('to/inner/link'))).toBe('../../secret');
  await rm(folder, { recursive: true });
});
