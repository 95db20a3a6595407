import { expect, it } from 'vitest';
import { systemRandomness } from '../lib/ids.ts';
import { postponementMs, retryDelayMs } from './backoff.ts';

const always = (fraction: number) => ({ ...systemRandomness, fraction: () => fraction });

it('doubles from one second to five minutes', () => {
  const delays = [1, 2, 3, 4, 9, 10, 1_000].map((attempt) => retryDelayMs(attempt, always(0.5)));
  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
});

it('postpones by the waiting time so far, from 1 s to 30 s', () => {
  const delays = [0, 999, 5_000, 1e9].map((waited) => postponementMs(waited, always(0.5)));
  expect(delays).toEqual([1_000, 1_000, 5_000, 25_000]);
  expect(postponementMs(1e9, always(0.999_999))).toBeLessThanOrEqual(30_000);
});

it('spreads by a fifth to either side', () => {
  expect(retryDelayMs(1, always(0))).toBe(800);
  expect(retryDelayMs(1, always(0.999_999))).toBe(1_200);
});
