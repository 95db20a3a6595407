import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readWebsiteText } from './website-text.ts';

it('reads a short plain file and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-text-'));
  try {
    const read = (name: string) => readWebsiteText(join(folder, name), 5);
    await writeFile(join(folder, 'short'), 'short');
    await writeFile(join(folder, 'longer'), 'longer');
    await writeFile(join(folder, 'empty'), '');
    await mkdir(join(folder, 'folder'));
    await symlink('short', join(folder, 'link'));
    expect(await read('short')).toBe('short');
    expect(await read('empty')).toBe('');
    for (const name of ['longer', 'folder', 'link', 'short/inner']) expect(await read(name)).toBeNull();
    await expect(read('missing')).rejects.toThrow('ENOENT');
  } finally {
    await rm(folder, { recursive: true });
  }
});
