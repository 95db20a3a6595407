import { expect, it } from 'vitest';
import { availableMemory } from './available-memory.ts';

const GIB = 1024 ** 3;

it.each([
  ['the machine has, without a cgroup', 0, 64 * GIB],
  ['the machine has, with a cgroup without a limit', 2 ** 63, 64 * GIB],
  ['the cgroup allows', 2 * GIB, 2 * GIB],
])('is what %s', (_case, constrained, expected) => {
  expect(availableMemory(64 * GIB, constrained)).toBe(expected);
});
