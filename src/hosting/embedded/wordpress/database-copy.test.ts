import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyLiveDatabase } from './database-copy.ts';

let folder: string;
let from: string;
let to: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-copy-'));
  from = join(folder, 'wordpress.sqlite');
  to = join(folder, 'copy', 'wordpress.sqlite');
  await writeFile(from, 'first');
});
afterEach(() => rm(folder, { recursive: true }));

it('copies a database at rest', async () => {
  await writeFile(`${from}-journal`, '');
  await copyLiveDatabase(from, to, { pause: async () => {} });
  expect(await readFile(to, 'utf8')).toBe('first');
});

it('waits until a transaction has ended, and copies what it wrote', async () => {
  await writeFile(`${from}-journal`, 'open');
  let pauses = 0;
  await copyLiveDatabase(from, to, {
    async pause() {
      pauses += 1;
      if (pauses === 2) await writeFile(from, 'second');
      if (pauses === 3) await writeFile(`${from}-journal`, '');
    },
  });
  expect(await readFile(to, 'utf8')).toBe('second');
});

it('gives up on a database that changes all the time', async () => {
  let pauses = 0;
  const copied = copyLiveDatabase(from, to, {
    pause: () => writeFile(from, 'x'.repeat(++pauses)),
  });
  await expect(copied).rejects.toThrow('changes all the time');
  await expect(readFile(to)).rejects.toThrow('ENOENT');
});
