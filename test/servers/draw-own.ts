import { randomInt } from 'node:crypto';

/** More processes than any test run uses. */
const SLICES = 8;

/**
 * A random number from `from` to below `end`, from a part reserved for this process. Otherwise, two processes could draw the same number
 * and both find it free.
 */
export function drawOwn(from: number, end: number): number {
  const size = Math.floor((end - from) / SLICES);
  const slice = (Number(process.env.VITEST_POOL_ID ?? 1) - 1) % SLICES;
  return from + slice * size + randomInt(size);
}
