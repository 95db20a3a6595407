import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPartialWrites } from '../../../lib/partial-writes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A write that takes `ms`. */
function slowly(ms: number) {
  const written: number[] = [];
  let atOnce = 0;
  let most = 0;
  const write = async (state: number) => {
    most = Math.max(most, ++atOnce);
    await new Promise((resolve) => setTimeout(resolve, ms));
    atOnce -= 1;
    written.push(state);
  };
  return { write, written, most: () => most };
}

it('writes the first state at once, then only the latest', async () => {
  const { write, written } = slowly(10);
  const writes = createPartialWrites(write, 250);
  for (const state of [1, 2, 3]) writes.offer(state);
  await vi.advanceTimersByTimeAsync(249);
  expect(written).toEqual([1]);
  await vi.advanceTimersByTimeAsync(20);
  expect(written).toEqual([1, 3]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(written).toEqual([1, 3]);
  writes.offer(4);
  await vi.advanceTimersByTimeAsync(10);
  expect(written).toEqual([1, 3, 4]);
});

it('never writes twice at the same time', async () => {
  const { write, written, most } = slowly(600);
  const writes = createPartialWrites(write, 250);
  for (const state of [1, 2, 3, 4]) {
    writes.offer(state);
    await vi.advanceTimersByTimeAsync(200);
  }
  await vi.advanceTimersByTimeAsync(2_000);
  expect(written.at(-1)).toBe(4);
  expect(most()).toBe(1);
});

it('ends after the running write, and drops the scheduled one', async () => {
  const { write, written } = slowly(100);
  const writes = createPartialWrites(write, 250);
  writes.offer(1);
  writes.offer(2);
  let ended = false;
  const ending = writes.end().then(() => {
    ended = true;
  });
  await vi.advanceTimersByTimeAsync(99);
  expect(ended).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await ending;
  writes.offer(3);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(written).toEqual([1]);
});
