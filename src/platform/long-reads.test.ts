import { beforeEach, expect, it } from 'vitest';
import { ClientLeft, RateLimited } from '../lib/failures.ts';
import { createLongReads, type InTurn, type LongReads, MOST_READS } from './long-reads.ts';

let reads: LongReads;
/** Parts that began, in order. */
let begun: string[];
const stays = () => new AbortController().signal;

beforeEach(() => {
  reads = createLongReads();
  begun = [];
});

/** Reads that many parts, each of which notes its name. */
const read = (name: string, length: number) => async (inTurn: InTurn) => {
  for (let part = 1; part <= length; part++) {
    await inTurn(async () => {
      begun.push(`${name}${part}`);
    });
  }
  return name;
};

/** A read that ends when `end` is called. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { end: resolve, read: () => promise };
}

it('reads those of an account one after the other, and those of several side by side', async () => {
  const answers = await Promise.all([
    reads.run('one', stays(), read('a', 3)),
    reads.run('one', stays(), read('b', 1)),
    reads.run('two', stays(), read('c', 3)),
  ]);
  expect(answers).toEqual(['a', 'b', 'c']);
  expect(begun.filter((name) => name < 'c')).toEqual(['a1', 'a2', 'a3', 'b1']);
  expect(begun.indexOf('c2')).toBeLessThan(begun.indexOf('a3'));
});

it('refuses more of one account than it keeps waiting, until one has ended', async () => {
  const first = held();
  const running = Array.from({ length: MOST_READS }, () => reads.run('one', stays(), first.read));
  await expect(reads.run('one', stays(), read('a', 1))).rejects.toThrow(RateLimited);
  expect(await reads.run('two', stays(), read('b', 1))).toBe('b');
  first.end();
  await Promise.all(running);
  expect(await reads.run('one', stays(), read('a', 1))).toBe('a');
  expect(begun).toEqual(['b1', 'a1']);
});

it('ends a read after its present part if the client has gone', async () => {
  const client = new AbortController();
  const part = held();
  const isReading = Promise.withResolvers<void>();
  const answer = reads.run('one', client.signal, async (inTurn) => {
    await inTurn(() => {
      isReading.resolve();
      return part.read();
    });
    await read('a', 2)(inTurn);
  });
  await isReading.promise;
  const next = reads.run('one', stays(), read('b', 1));
  client.abort();
  await expect(answer).rejects.toThrow(ClientLeft);
  expect(begun).toEqual([]);
  part.end();
  expect(await next).toBe('b');
  expect(begun).toEqual(['b1']);
});

it('gives the place of a client that has gone to another, and never begins its read', async () => {
  const first = held();
  const running = reads.run('one', stays(), first.read);
  const client = new AbortController();
  const waiting = Array.from({ length: MOST_READS - 1 }, () => reads.run('one', client.signal, read('a', 1)));
  client.abort();
  for (const one of waiting) await expect(one).rejects.toThrow(ClientLeft);
  const other = reads.run('one', stays(), read('b', 1));
  first.end();
  await running;
  expect(await other).toBe('b');
  expect(begun).toEqual(['b1']);
});

it('goes on after a read that failed', async () => {
  const failing = reads.run('one', stays(), async () => {
    throw new Error('no such table');
  });
  const next = reads.run('one', stays(), read('a', 1));
  await expect(failing).rejects.toThrow('no such table');
  expect(await next).toBe('a');
  expect(begun).toEqual(['a1']);
});
