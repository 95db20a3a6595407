import { expect, test } from 'vitest';
import { LEAST_FREE_BYTES_OF_OWN, watchingDatabase } from './watch-database.ts';

const GIB = 1024 ** 3;
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')));
  });

interface Watched {
  freeBytes: number;
  mostBytes: number | null;
  leastFreeBytes: number;
}

/** A database with these bytes at one look after the other, on a disk with this free space. */
function watched(
  bytes: number[],
  { freeBytes = 2 * GIB, mostBytes = GIB as number | null, ...margin }: Partial<Watched> = {},
) {
  const left = [...bytes];
  const databases = { fileBytes: async () => new Map([['hp_a_new', left.shift() ?? bytes.at(-1) ?? 0]]) };
  const options = {
    database: 'hp_a_new',
    mostBytes,
    folder: '/',
    free: async () => freeBytes,
    everyMs: 1,
    ...margin,
  };
  return <T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal) =>
    watchingDatabase(databases, { ...options, signal }, work);
}

test('a database that becomes too large ends the work', async () => {
  await expect(watched([0, GIB, GIB + 1])(untilAborted)).rejects.toThrow(/larger than .* \(1,024 MiB\)/);
});

test('a database that is too large in the end is refused', async () => {
  await expect(watched([GIB + 1])(async () => 'done')).rejects.toThrow('(1,024 MiB)');
});

test('a full disk ends the work', async () => {
  await expect(watched([0], { freeBytes: GIB - 1 })(untilAborted)).rejects.toThrow('too little free space');
});

test('work that brings back what an install had may use more of the disk', async () => {
  const most = { freeBytes: GIB - 1, leastFreeBytes: LEAST_FREE_BYTES_OF_OWN };
  expect(await watched([0], most)(async () => 'done')).toBe('done');
  const full = { ...most, freeBytes: LEAST_FREE_BYTES_OF_OWN - 1 };
  await expect(watched([0], full)(untilAborted)).rejects.toThrow('too little free space');
});

test('other work ends as it does', async () => {
  expect(await watched([GIB])(async () => 'done')).toBe('done');
  expect(await watched([2 * GIB], { mostBytes: null })(async () => 'done')).toBe('done');
  const cancelled = AbortSignal.abort(new Error('cancelled'));
  const work = async (signal: AbortSignal) => signal.throwIfAborted();
  await expect(watched([0])(work, cancelled)).rejects.toThrow('cancelled');
});
