import { expect, test } from 'vitest';
import { CACHE_TTL_MS, type Generations, generationsAfterPurge, nextGenerations } from './generations.ts';

const fresh = nextGenerations(null, 1_000);
const pathsOf = ({ paths }: Generations) => paths ?? {};

test('a purged page gets a generation of its own, a higher one each time', () => {
  const once = generationsAfterPurge(fresh, 1_000, ['a', '']);
  expect(once).toEqual({ ...fresh, paths: { a: 1_000, '': 1_000 } });
  expect(pathsOf(generationsAfterPurge(once, 1_000, ['a']))).toEqual({ a: 1_001, '': 1_000 });
  expect(pathsOf(generationsAfterPurge(once, 900, ['a']))).toEqual({ a: 1_001, '': 1_000 });
});

test('purges are forgotten once their pages have expired, and when the whole cache is emptied', () => {
  const once = generationsAfterPurge(fresh, 1_000, ['a']);
  const last = 1_000 + CACHE_TTL_MS;
  expect(pathsOf(generationsAfterPurge(once, last, ['b']))).toEqual({ a: 1_000, b: last });
  expect(pathsOf(generationsAfterPurge(once, last + 1, ['b']))).toEqual({ b: last + 1 });
  expect(nextGenerations(once, 2_000, ['cdn'])).toEqual({ ...once, cdn: 2_000 });
  expect(nextGenerations(once, 2_000, ['page'])).toEqual({ ...fresh, page: 2_000 });
});

test('with too many paths, the whole page cache is emptied', () => {
  const paths = Array.from({ length: 40 }, (_, n) => `${n}`.padEnd(2_000, 'x'));
  expect(generationsAfterPurge(fresh, 2_000, paths)).toEqual({ ...fresh, page: 2_000 });
});

test('no path changes the object itself', () => {
  const { paths } = generationsAfterPurge(fresh, 2_000, ['__proto__', 'constructor']);
  expect(Object.entries(paths ?? {})).toEqual([
    ['__proto__', 2_000],
    ['constructor', 2_000],
  ]);
});
