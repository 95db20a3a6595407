import { expect, it } from 'vitest';
import { pathLines, readPathLines } from './cache-rule-lines.ts';

it('paths are read back from their lines', () => {
  const paths = [
    { match: 'exact' as const, path: '/members/' },
    { match: 'prefix' as const, path: '/shop' },
    { match: 'prefix' as const, path: '/' },
  ];
  expect(pathLines(paths)).toBe('/members/\n/shop/*\n/*');
  expect(readPathLines(` ${pathLines(paths)}\n\n`)).toEqual(paths);
});
