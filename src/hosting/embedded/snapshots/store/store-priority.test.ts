import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openStore } from './store.ts';
import { giveWay, STORE_NICENESS } from './store-priority.ts';

/** Field 19 of proc(5) stat; the name before may have spaces. */
const niceness = (thread: string): number =>
  Number(readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[16]);

test('the thread of a store gives way to pages, and the main thread does not', {
  skip: process.platform !== 'linux' || getPriority() > 0,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'store-priority-'));
  const store = openStore(folder);
  try {
    await store.usedPacks();
    const values = readdirSync('/proc/self/task').map(niceness);
    expect(values).toContain(STORE_NICENESS);
    expect(getPriority()).toBe(0);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
});

test('a system that forbids it makes backups all the same', {
  skip: process.platform !== 'linux' || getPriority() > 0,
}, () => {
  const set = vi.fn(() => {
    throw Object.assign(new Error('A system error occurred'), { code: 'ERR_SYSTEM_ERROR' });
  });
  giveWay(set);
  expect(set).toHaveBeenCalledExactlyOnceWith(0, STORE_NICENESS);
});
