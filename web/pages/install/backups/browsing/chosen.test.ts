import { expect, test } from 'vitest';
import { chosenAbove, chosenLabel, NOTHING, outermost } from './chosen.ts';

test.each([
  [{ paths: new Set(['htdocs/a.txt']), tables: new Set<string>() }, '"htdocs/a.txt"'],
  [
    { paths: new Set(['a', 'b']), tables: new Set(['wp_posts']) },
    '2 files and folders and the table wp_posts',
  ],
  [{ paths: new Set<string>(), tables: new Set(['x', 'y']) }, '2 tables'],
  [NOTHING, ''],
])('a selection is named %#', (chosen, label) => {
  expect(chosenLabel(chosen)).toBe(label);
});

test('what is inside of a selected folder is selected with it', () => {
  const paths = new Set(['htdocs/uploads', 'htdocs/uploads/2026/a.jpg', 'htdocs/uploads-old', 'index.html']);
  expect(chosenAbove(paths, 'htdocs/uploads/2026')).toBe('htdocs/uploads');
  expect(chosenAbove(paths, 'htdocs/uploads')).toBe(null);
  expect(outermost(paths)).toEqual(['htdocs/uploads', 'htdocs/uploads-old', 'index.html']);
});
