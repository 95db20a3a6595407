import { randomInt } from 'node:crypto';

/** More processes than ever run the tests of one command. */
const SLICES = 8;

/**
 * A number from `from` to below `end`, drawn from a part that no other process of this test run draws from: two that drew
 * alike would both find it free.
 */
export function drawOwn(from: number, end: number): number {
  const size = Math.floor((end - from) / SLICES);
  const slice = (Number(process.env.VITEST_POOL_ID ?? 1) - 1) % SLICES;
  return from + slice * size + randomInt(size);
}
