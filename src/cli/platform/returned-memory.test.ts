import { expect, it } from 'vitest';
import { createMemoryReturn } from './returned-memory.ts';

const MIB = 1024 * 1024;

it('returns memory after a busy time, once, and as soon as the process is idle', () => {
  const usage = { processorMs: 500, heapBytes: 40 * MIB };
  let collections = 0;
  const memory = createMemoryReturn(
    () => ({ ...usage }),
    () => {
      collections++;
      usage.heapBytes = 50 * MIB;
    },
  );
  const minute = (processorMs: number, heapBytes?: number): number => {
    usage.processorMs += processorMs;
    if (heapBytes !== undefined) usage.heapBytes = heapBytes;
    memory.look(60_000);
    return collections;
  };
  expect(minute(100, 60 * MIB)).toBe(0);
  expect(minute(30_000, 200 * MIB)).toBe(0);
  expect(minute(5_900)).toBe(1);
  // The rest is needed.
  expect(minute(100)).toBe(1);
  expect(minute(100, 81 * MIB)).toBe(1);
  expect(minute(100, 82 * MIB)).toBe(2);
});

it('returns what has expired since, once, three idle looks later', () => {
  const usage = { processorMs: 0, heapBytes: 40 * MIB };
  const collections: number[] = [];
  let looks = 0;
  const memory = createMemoryReturn(
    () => ({ ...usage }),
    () => {
      collections.push(looks);
      usage.heapBytes = collections.length === 1 ? 70 * MIB : 45 * MIB;
    },
  );
  usage.heapBytes = 200 * MIB;
  for (looks = 1; looks <= 10; looks++) {
    // The third one is busy.
    usage.processorMs += looks === 3 ? 30_000 : 100;
    memory.look(60_000);
  }
  expect(collections).toEqual([1, 5]);
});
