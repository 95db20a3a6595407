import { expect, test } from 'vitest';
import { folderCircles } from '../../tools/folder-circles.ts';

const file = (source: string, ...imported: string[]) => ({
  source,
  dependencies: imported.map((resolved) => ({ resolved })),
});
const circlesOf = (...files: ReturnType<typeof file>[]) =>
  folderCircles(files, (name) => name.endsWith('.test.ts'));

test('folders may import in one direction, and their own files in any', () => {
  expect(
    circlesOf(
      file('a/one.ts', 'a/two.ts', 'b/one.ts'),
      file('a/two.ts', 'a/one.ts'),
      file('b/one.ts', 'c/x.ts'),
    ),
  ).toEqual([]);
});

test('folders import each other, although no file does', () => {
  expect(
    circlesOf(file('a/one.ts', 'b/one.ts'), file('b/two.ts', 'c/one.ts'), file('c/two.ts', 'a/two.ts')),
  ).toEqual([['a', 'b', 'c', 'a']]);
});

test('a folder stands for those below it', () => {
  expect(circlesOf(file('a/deep/one.ts', 'b/one.ts'), file('b/one.ts', 'a/two.ts'))).toEqual([
    ['a', 'b', 'a'],
  ]);
});

test('tests may import everything', () => {
  expect(circlesOf(file('a/one.ts', 'b/one.ts'), file('b/one.test.ts', 'a/one.ts'))).toEqual([]);
});
