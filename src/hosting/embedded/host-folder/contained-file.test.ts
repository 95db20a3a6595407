import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openFilesIn } from '../open-files.fixture.ts';
import { NotContainedError, openContained } from './contained-file.ts';

let base: string;

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'contained-')));
  fs.mkdirSync(join(base, 'site', 'folder'), { recursive: true });
  fs.writeFileSync(join(base, 'site', 'folder', 'file'), 'inside');
  fs.mkdirSync(join(base, 'outside'));
  fs.writeFileSync(join(base, 'outside', 'file'), 'outside');
});

afterEach(() => fs.rmSync(base, { recursive: true }));

async function read(path: Buffer | string): Promise<string> {
  const file = await openContained(path, fs.constants.O_RDONLY);
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

test('opens a file at its own real path, by text or bytes', async () => {
  expect(await read(join(base, 'site/folder/file'))).toBe('inside');
  expect(await read(Buffer.from(join(base, 'site/folder/file')))).toBe('inside');
  const latin1 = Buffer.concat([Buffer.from(`${base}/site/caf`), Buffer.of(0xe9)]);
  fs.writeFileSync(latin1, 'bytes');
  expect(await read(latin1)).toBe('bytes');
});

test('a link as the last segment is refused by the system', async () => {
  fs.symlinkSync(join(base, 'outside', 'file'), join(base, 'site', 'link'));
  await expect(read(join(base, 'site', 'link'))).rejects.toMatchObject({ code: 'ELOOP' });
});

test('a link in place of a folder is detected, even if it stays inside', async () => {
  fs.symlinkSync(join(base, 'outside'), join(base, 'site', 'away'));
  fs.symlinkSync('folder', join(base, 'site', 'near'));
  await expect(read(join(base, 'site', 'away', 'file'))).rejects.toThrow(NotContainedError);
  await expect(read(join(base, 'site', 'near', 'file'))).rejects.toThrow(NotContainedError);
});

test('a path that is not normalized is refused', async () => {
  await expect(read(`${base}/site/../outside/file`)).rejects.toThrow(NotContainedError);
});

test('a pipe without a writer does not block the caller', async () => {
  execFileSync('mkfifo', [join(base, 'site', 'pipe')]);
  const file = await openContained(join(base, 'site', 'pipe'), fs.constants.O_RDONLY);
  await file.close();
});

test('a refused file is closed', async () => {
  fs.symlinkSync(join(base, 'outside'), join(base, 'site', 'away'));
  const path = join(base, 'site', 'away', 'file');
  for (let i = 0; i < 50; i++) await read(path).catch(() => {});
  expect(openFilesIn(base)).toEqual([]);
});
