import { expect, it } from 'vitest';
import { createReadingTurns } from './reading-turns.ts';

/** Readings that end when they are told to. */
function readings() {
  const turns = createReadingTurns(2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const read = (install: string, name: string, signal?: AbortSignal) =>
    turns(install, signal, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string) => {
    ends.get(name)?.();
    await settle();
  };
  return { begun, read, end, settle };
}

it('an install with many readings occupies one place', async () => {
  const { begun, read, end, settle } = readings();
  const all = [read('a', 'a1'), read('a', 'a2'), read('a', 'a3'), read('b', 'b1'), read('c', 'c1')];
  await settle();
  expect(begun).toEqual(['a1', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  for (const name of ['b1', 'c1', 'a2', 'a3']) await end(name);
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
});

it('a caller that has gone is not read for', async () => {
  const { begun, read, end, settle } = readings();
  const gone = new AbortController();
  const first = [read('a', 'a1'), read('b', 'b1')];
  const waiting = [read('a', 'a2', gone.signal), read('c', 'c1', gone.signal)];
  const outcomes = Promise.allSettled(waiting);
  await settle();
  gone.abort();
  await end('a1');
  await end('b1');
  await Promise.all(first);
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(begun).toEqual(['a1', 'b1']);
});
