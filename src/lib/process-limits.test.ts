import { expect, test } from 'vitest';
import { parseLimit, processLimit } from './process-limits.ts';

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max data size             unlimited            unlimited            bytes
Max processes             100                  200                  processes
Max open files            1024                 1048576              files
`;

test('reads the soft and the hard limit', () => {
  expect(parseLimit(LIMITS, 'Max processes')).toEqual({ soft: 100, hard: 200 });
  expect(parseLimit(LIMITS, 'Max data size')).toEqual({ soft: Infinity, hard: Infinity });
  expect(parseLimit('', 'Max processes')).toBeNull();
});

test.runIf(process.platform === 'linux')('reads those of a process', () => {
  const files = processLimit('Max open files');
  expect(files?.soft).toBeLessThanOrEqual(files?.hard ?? 0);
  expect(processLimit('Max open files', process.ppid)?.hard).toBeGreaterThan(0);
  expect(() => processLimit('Max open files', 2 ** 22 + 1)).toThrow('ENOENT');
});
