import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ConfigError } from '../config/config.ts';
import { prepareDataFolder } from './data-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'data-folder-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('leaves nothing in the data folder, and removes what an earlier version left', () => {
  const path = join(folder, 'new');
  prepareDataFolder(path);
  expect(readdirSync(path)).toEqual([]);
  writeFileSync(join(path, '.writable'), '');
  prepareDataFolder(path);
  expect(readdirSync(path)).toEqual([]);
});

test('says what is in the place of the data folder', () => {
  const path = join(folder, 'file');
  writeFileSync(path, '');
  expect(() => prepareDataFolder(path)).toThrow(ConfigError);
});
