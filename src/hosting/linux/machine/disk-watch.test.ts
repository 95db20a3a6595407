import { expect, test } from 'vitest';
import { DiskFilled, watchingDisk } from './disk-watch.ts';

/** Work that ends only with its signal. */
const endless = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    const kill = () => reject(new Error('the program was killed'));
    if (signal.aborted) kill();
    else signal.addEventListener('abort', kill);
  });

test('work that uses up half of the free space is ended', async () => {
  const free = [100, 60, 49];
  const look = async () => free.shift() ?? 49;
  await expect(watchingDisk('/srv', undefined, endless, look)).rejects.toThrow(DiskFilled);
});

test('other work gives its result, or its own failure', async () => {
  const look = async () => 100;
  expect(await watchingDisk('/srv', undefined, async () => 'done', look)).toBe('done');
  const cancelled = new AbortController();
  const work = watchingDisk('/srv', cancelled.signal, endless, look);
  cancelled.abort();
  await expect(work).rejects.toThrow('the program was killed');
});
