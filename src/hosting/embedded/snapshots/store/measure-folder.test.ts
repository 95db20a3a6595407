import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NO_LIMITS } from '../../../contract/install-limits.ts';
import { measureFiles } from '../measure-files.ts';
import { measureFolder } from './measure-folder.ts';

let base: string;
beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), 'measured-'));
  fs.mkdirSync(join(base, 'a/b'), { recursive: true });
  for (const [name, bytes] of [
    ['page', 5_000],
    ['a/picture', 70_000],
    ['a/b/empty', 0],
  ] as const) {
    fs.writeFileSync(join(base, name), Buffer.alloc(bytes, 1));
  }
  fs.symlinkSync('/etc', join(base, 'a/link'));
  fs.truncateSync(join(base, 'page'), 1_000_000);
});
afterEach(() => fs.rmSync(base, { recursive: true }));

test('measures what the other way measures', async () => {
  const usage = measureFolder(base, NO_LIMITS);
  expect(usage).toEqual(await measureFiles(base, NO_LIMITS));
  expect(usage).toMatchObject({ files: 6 });
});

test('stops at a limit, and says nothing about what it cannot read', () => {
  expect(measureFolder(base, { bytes: null, files: 2 })?.files).toBe(3);
  expect(measureFolder(join(base, 'missing'), NO_LIMITS)).toBeNull();
});
