import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openContents, writeContents } from '../../websites/backup-contents/contents-file.ts';
import { fileSpans } from './restore-chosen.ts';

const folder = mkdtempSync(join(tmpdir(), 'chosen-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('what chosen paths need of a backup is asked once for all of them', async () => {
  const file = join(folder, 'index.sqlite');
  const writer = await writeContents(file);
  const entry = { modifiedAt: 1, target: null };
  let place = 0;
  const add = (path: string, type: 'folder' | 'file', sameAs?: string) => {
    writer.add({ ...entry, path, type, bytes: 1, place, length: 10, ...(sameAs ? { sameAs } : {}) });
    place += 10;
  };
  const folders = ['htdocs', 'htdocs/a', 'htdocs/a/b', 'htdocs/a/b/c'];
  for (const path of folders) add(path, 'folder');
  const files = Array.from({ length: 100 }, (_, at) => `htdocs/a/b/c/${1_000 + at}`);
  for (const path of files) add(path, 'file');
  add('htdocs/a/b/c/twin', 'file', 'htdocs/a/b/c/1001');
  await writer.finish({ bytes: 1, files: 1, sha256: 'a' });

  const contents = openContents(file);
  const asked = { find: 0, sourcesIn: 0, spanOf: 0 };
  const counting = {
    ...contents,
    find: (path: string) => {
      asked.find += 1;
      return contents.find(path);
    },
    sourcesIn: (span: Parameters<typeof contents.sourcesIn>[0]) => {
      asked.sourcesIn += 1;
      return contents.sourcesIn(span);
    },
    spanOf: (found: Parameters<typeof contents.spanOf>[0]) => {
      asked.spanOf += 1;
      return contents.spanOf(found);
    },
  };
  expect(fileSpans(counting, files)).toEqual([{ place: 0, length: 1_040 }]);
  expect(asked).toEqual({ find: files.length + folders.length, sourcesIn: 1, spanOf: files.length });
  Object.assign(asked, { find: 0, sourcesIn: 0, spanOf: 0 });
  expect(fileSpans(counting, [...folders, ...files])).toEqual([{ place: 0, length: 1_050 }]);
  expect(asked).toMatchObject({ sourcesIn: 1, spanOf: 1 });
  // A hard link brings the folders above it, itself, and what it shares.
  expect(fileSpans(contents, ['htdocs/a/b/c/twin'])).toEqual([
    { place: 0, length: 40 },
    { place: 50, length: 10 },
    { place: 1_040, length: 10 },
  ]);
  contents.close();
});
