import { expect, test } from 'vitest';
import { capacityFor, capacityOfMachine } from './capacity.ts';

const GIB = 1024 ** 3;

test('the scarcer of memory and disk decides', () => {
  expect(capacityFor({ memory: 17 * GIB, disk: 4000 * GIB })).toBe(512);
  expect(capacityFor({ memory: 64 * GIB, disk: 100 * GIB })).toBe(100);
});

test('the smallest machine holds one', () => {
  expect(capacityFor({ memory: GIB / 2, disk: GIB / 2 })).toBe(1);
});

test('this machine holds at least one', async () => {
  expect(await capacityOfMachine('/')).toBeGreaterThan(0);
});
