import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { provideFolderId, replaceUnusableFolderId } from './folder-id.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const ID = '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11';
const made = () => ID;
const never = () => {
  throw new Error('a second id');
};

it('is created once, with the folder', async () => {
  const file = join(folder.path, 'host', 'id');
  expect(await provideFolderId(file, made)).toBe(ID);
  expect(readFileSync(file, 'utf8')).toBe(`${ID}\n`);
  expect(await provideFolderId(file, never)).toBe(ID);
});

it('is not replaced if the file has other content', async () => {
  const file = join(folder.path, 'id');
  writeFileSync(file, '');
  await expect(provideFolderId(file, made)).rejects.toThrow(OperatorError);
  expect(readFileSync(file, 'utf8')).toBe('');
});

it('is replaced on request if the file holds no id', async () => {
  const file = join(folder.path, 'unusable');
  writeFileSync(file, 'nonsense');
  await expect(provideFolderId(file, made)).rejects.toThrow('"homeport host take-over"');
  await replaceUnusableFolderId(file, made);
  expect(await provideFolderId(file, never)).toBe(ID);
  await replaceUnusableFolderId(file, never);
});

it('reports an unreadable file and how to fix it', async () => {
  const file = join(folder.path, 'no-file');
  mkdirSync(file);
  await expect(provideFolderId(file, made)).rejects.toThrow(/cannot be read .*"homeport host take-over"/);
});
