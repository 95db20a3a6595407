import { expect, test } from 'vitest';
import { isInMemory, syncFileSystem } from './sync-file-system.ts';

test('only tmpfs is in memory', { skip: process.platform !== 'linux' }, async () => {
  expect(await isInMemory('/dev/shm')).toBe(true);
  // A file system of the kernel. Unknown ones are synced.
  expect(await isInMemory('/proc')).toBe(false);
});

test('a missing folder is an error, not a success', { skip: process.platform !== 'linux' }, async () => {
  await expect(syncFileSystem('/proc/missing')).rejects.toThrow('ENOENT');
});
