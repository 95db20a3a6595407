import { expect, it } from 'vitest';
import { arranged } from './arranged.ts';

const rows = [
  { name: 'site10', size: 3 },
  { name: 'Site2', size: 20 },
  { name: 'site1', size: 3 },
];

it('orders texts as people do, whatever their case', () => {
  expect(arranged(rows, (row) => row.name, 'ascending').map((row) => row.name)).toEqual([
    'site1',
    'Site2',
    'site10',
  ]);
});

it('orders numbers by value, and keeps equal ones in their places', () => {
  expect(arranged(rows, (row) => row.size, 'ascending').map((row) => row.name)).toEqual([
    'site10',
    'site1',
    'Site2',
  ]);
  expect(arranged(rows, (row) => row.size, 'descending').map((row) => row.size)).toEqual([20, 3, 3]);
});
