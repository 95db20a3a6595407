import { expect, it } from 'vitest';
import { sortRows } from './sort-rows.ts';

const rows = [
  { name: 'site10', size: 3 },
  { name: 'Site2', size: 20 },
  { name: 'site1', size: 3 },
];

it('sorts texts in natural order and ignores case', () => {
  expect(sortRows(rows, (row) => row.name, 'ascending').map((row) => row.name)).toEqual([
    'site1',
    'Site2',
    'site10',
  ]);
});

it('sorts numbers by value and is stable', () => {
  expect(sortRows(rows, (row) => row.size, 'ascending').map((row) => row.name)).toEqual([
    'site10',
    'site1',
    'Site2',
  ]);
  expect(sortRows(rows, (row) => row.size, 'descending').map((row) => row.size)).toEqual([20, 3, 3]);
});
