import { randomInt } from 'node:crypto';

/** Most processes of a test run: each has a separate part of the numbers, and all use one PostgreSQL. */
export const MOST_PROCESSES = 16;

/**
 * A random number from `from` to below `end`, from a part reserved for this process. Otherwise, two processes could draw the same number
 * and both find it free.
 */
export function drawOwn(from: number, end: number): number {
  const size = Math.floor((end - from) / MOST_PROCESSES);
  const slice = (Number(process.env.VITEST_POOL_ID ?? 1) - 1) % MOST_PROCESSES;
  return from + slice * size + randomInt(size);
}
