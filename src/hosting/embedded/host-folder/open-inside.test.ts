import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInside } from './open-inside.ts';

let folder: string;
let root: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-inside-'));
  root = join(folder, 'files');
  await mkdir(root);
});
afterEach(() => rm(folder, { recursive: true }));

async function contentOf(relative: string): Promise<string> {
  const opened = await openInside(root, relative);
  if (typeof opened === 'string') return opened;
  try {
    return opened.stats.isFile() ? await opened.handle.readFile('utf8') : 'folder';
  } finally {
    await opened.handle.close();
  }
}

test('returns real paths', async () => {
  await mkdir(join(root, 'sub'));
  await writeFile(join(root, 'sub/x.txt'), 'x');
  await symlink('sub', join(root, 'alias'));
  const opened = await openInside(root, 'alias/x.txt');
  if (typeof opened === 'string') throw new Error(opened);
  expect(opened.relative).toBe('sub/x.txt');
  await opened.handle.close();
  expect(await contentOf('')).toBe('folder');
  expect(await contentOf('alias')).toBe('folder');
});

test('a sibling folder whose name begins with the root name is outside', async () => {
  await mkdir(join(folder, 'files-of-another'));
  await writeFile(join(folder, 'files-of-another/x.txt'), 'SECRET');
  await symlink('../files-of-another/x.txt', join(root, 'x.txt'));
  expect(await contentOf('x.txt')).toBe('missing');
});

test('a root that is missing or is itself a link', async () => {
  await writeFile(join(root, 'x.txt'), 'x');
  await symlink(root, join(folder, 'linked'));
  expect(await openInside(join(folder, 'gone'), 'x.txt')).toBe('missing');
  const opened = await openInside(join(folder, 'linked'), 'x.txt');
  if (typeof opened === 'string') throw new Error(opened);
  await opened.handle.close();
});

test('repeatedly replacing a folder by a link to elsewhere never exposes anything outside', async () => {
  await mkdir(join(root, 'real'));
  await writeFile(join(root, 'real/x.txt'), 'inside');
  await mkdir(join(folder, 'elsewhere'));
  await writeFile(join(folder, 'elsewhere/x.txt'), 'SECRET');
  let done = false;
  const exchanging = (async () => {
    while (!done) {
      await rename(join(root, 'real'), join(root, 'aside'));
      await symlink(join(folder, 'elsewhere'), join(root, 'real'));
      await rm(join(root, 'real'));
      await rename(join(root, 'aside'), join(root, 'real'));
      if (Math.random() < 0.3) await sleep(1);
    }
  })();
  const seen = new Set<string>();
  for (let round = 0; round < 2000; round++) seen.add(await contentOf('real/x.txt'));
  done = true;
  await exchanging;
  expect([...seen].sort()).toEqual(['inside', 'missing']);
});
