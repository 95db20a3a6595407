import { expect, test } from 'vitest';
import { effectivePhp, faultsOfLimits, mostWorkers, PHP_RANGES } from './php-limits.ts';
import { siteMb, WASM_MEMORY, wasmPhpBounds } from './wasm-php-limits.ts';

const NONE = { memoryMb: null, uploadMb: null, seconds: null, workers: null, inputVars: null };

test('the defaults are the same with any memory', () => {
  for (const memoryMb of [256, 1_000, 4_096, 65_536]) {
    expect(effectivePhp(wasmPhpBounds(PHP_RANGES, memoryMb), null)).toEqual({
      ...{ memoryMb: 256, uploadMb: 64, seconds: 60, workers: 2, inputVars: 5_000 },
    });
  }
});

test.each([
  [256, { memoryMb: 256, uploadMb: 64 }, 2],
  [1_000, { memoryMb: 320, uploadMb: 80 }, 2],
  [4_096, { memoryMb: 512, uploadMb: 256 }, 15],
  [65_536, { memoryMb: 512, uploadMb: 256 }, 16],
])('with %i MiB for all websites, one has at most %j and %i requests at once', (memoryMb, most, workers) => {
  const bounds = wasmPhpBounds(PHP_RANGES, memoryMb);
  expect(bounds.most).toMatchObject(most);
  expect(mostWorkers(bounds, 256)).toBe(workers);
});

test('no website takes more than half of the memory with its limits, unless the defaults do', () => {
  const bounds = wasmPhpBounds(PHP_RANGES, 4_096);
  for (const memoryMb of [64, 256, 384, 512]) {
    const threads = mostWorkers(bounds, memoryMb);
    expect(siteMb(WASM_MEMORY, { memoryMb, threads })).toBeLessThanOrEqual(2_048);
    expect(faultsOfLimits(bounds, { ...NONE, memoryMb, workers: threads })).toEqual([]);
  }
});

test('the program of PHP has room for the largest page and the largest upload that an operator can allow', () => {
  const ranges = { ...PHP_RANGES, phpMemoryMb: { standard: 4_096, most: 65_536 } };
  const { standard, most } = wasmPhpBounds(ranges, 1_000_000);
  expect([standard.memoryMb, most.memoryMb]).toEqual([1_536, 1_536]);
  expect(most.memoryMb + most.uploadMb).toBeLessThan(2_048 - 192);
});
