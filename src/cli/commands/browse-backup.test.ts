import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { saveNew } from './browse-backup.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'saved-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const content = Buffer.from('of the backup');
const read = async ({ offset }: { offset: number }) => content.subarray(offset, offset + 5);

test('a file of a backup is saved whole', async () => {
  const file = join(folder, 'wp-config.php');
  await saveNew(file, content.length, read);
  expect(readFileSync(file)).toEqual(content);
  await saveNew(join(folder, 'empty'), 0, read);
  expect(readdirSync(folder).sort()).toEqual(['empty', 'wp-config.php']);
});

test('a file that is there is never replaced', async () => {
  const file = join(folder, 'wp-config.php');
  writeFileSync(file, 'of the website');
  await expect(saveNew(file, content.length, read)).rejects.toThrow(`${file} is there already.`);
  symlinkSync('nowhere', join(folder, 'link'));
  await expect(saveNew(join(folder, 'link'), content.length, read)).rejects.toThrow('is there already');
  // Nor one that comes meanwhile.
  const late = join(folder, 'late');
  const reading = async (part: { offset: number }) => {
    writeFileSync(late, 'of the website');
    return read(part);
  };
  await expect(saveNew(late, content.length, reading)).rejects.toThrow(`${late} is there already.`);
  expect([file, late].map((path) => readFileSync(path, 'utf8'))).toEqual([
    'of the website',
    'of the website',
  ]);
  expect(readdirSync(folder).sort()).toEqual(['late', 'link', 'wp-config.php']);
});

test('nothing stays of a file that ends too early', async () => {
  await expect(saveNew(join(folder, 'short'), content.length + 1, read)).rejects.toThrow('ended too early');
  expect(readdirSync(folder)).toEqual([]);
});
